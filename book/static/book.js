"use strict";
// The meaning of a term on hover, focus and tap. Escape closes it; a second tap, or Enter, follows the link to the glossary.

const meaning = Object.assign(document.createElement("div"), { className: "book-meaning", id: "book-meaning", role: "tooltip", hidden: true });
document.body.append(meaning);
let shown = null;  // the term whose meaning stands there

function tell(term) {
  forget();
  shown = term;
  meaning.textContent = term.dataset.means;
  meaning.hidden = false;
  term.setAttribute("aria-describedby", meaning.id);
  const at = term.getBoundingClientRect(), room = document.documentElement.clientWidth - meaning.offsetWidth - 8;
  meaning.style.left = `${Math.max(8, Math.min(at.left, room)) + scrollX}px`;
  meaning.style.top = `${at.bottom + 6 + scrollY}px`;
}

function forget() {
  shown?.removeAttribute("aria-describedby");
  shown = null;
  meaning.hidden = true;
}

for (const term of document.querySelectorAll("a.term")) {
  term.addEventListener("pointerenter", (event) => { if (event.pointerType === "mouse") tell(term); });
  term.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") forget(); });
  term.addEventListener("focus", () => { if (term.matches(":focus-visible")) tell(term); });
  term.addEventListener("blur", forget);
  term.addEventListener("click", (event) => {
    if (event.pointerType === "mouse" || event.detail === 0 || shown === term) return;
    event.preventDefault();
    tell(term);
  });
}
document.addEventListener("keydown", (event) => { if (event.key === "Escape") forget(); });
