"use strict";
// A case of the game in a page: shows what was worked out for the setting and the bet that are chosen (grader/book/games.py).

for (const box of document.querySelectorAll(".book-case")) {
  const form = box.querySelector("form"), end = box.querySelector(".book-end");
  let tried = false;  // a setting other than today's

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("click", (event) => {
    const level = event.target.closest("button[data-level]")?.dataset.level;
    if (!level) return;
    const chosen = new FormData(form);
    const found = [...box.querySelectorAll("template")].find((one) =>
      Object.entries(JSON.parse(one.dataset.config)).every(([name, value]) => chosen.get(name) === value));
    const today = "today" in found.dataset;
    if (today && !tried) { end.textContent = form.dataset.today; return; }
    if (!today && !chosen.get("bet")) { end.textContent = form.dataset.nothing; return; }
    tried = true;
    end.replaceChildren(found.content.cloneNode(true));
    for (const one of end.querySelectorAll("[data-bet]")) one.hidden = one.dataset.bet !== `${chosen.get("bet")} ${level}`;
    box.querySelector(".book-after").hidden = false;
    end.focus();
  });
}
