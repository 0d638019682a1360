"use strict";
// <html theme="light"> or "dark", for the colours: as the book is set (<body data-theme>, which its theme keeps as "theme"), else as the system is.

const darkness = matchMedia("(prefers-color-scheme: dark)");

function followTheme() {
  let chosen = document.body.dataset.theme;
  try { chosen ??= localStorage.getItem("theme"); } catch { /* then the system's */ }
  const dark = chosen === "dark" || chosen !== "light" && darkness.matches;
  document.documentElement.setAttribute("theme", dark ? "dark" : "light");
}

darkness.addEventListener("change", followTheme);
new MutationObserver(followTheme).observe(document.body, { attributeFilter: ["data-theme"] });
followTheme();
