"use strict";
// A case of a game in a page: shows what was worked out while the book was built (grader/book/games.py, hunting.py, steps.py).

for (const box of document.querySelectorAll(".book-panel")) {  // for the setting and the bet that are chosen
  const form = box.querySelector("form"), end = box.querySelector(".book-end");
  let tried = false;  // a setting other than today's

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("click", (event) => {
    const level = event.target.closest("button[data-level]")?.dataset.level;
    if (!level) return;
    const chosen = new FormData(form);
    const found = [...box.querySelectorAll(":scope > template")].find((one) =>
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

for (const step of document.querySelectorAll(".book-step")) {  // for the line, the cause, the repair; the right one opens the next step
  const [form, end, after] = ["form", ".book-end", ".book-after"].map((part) => step.querySelector(`:scope > ${part}`));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const chosen = new FormData(form).get("choice");
    if (chosen === null) { end.textContent = form.dataset.nothing; return; }
    const found = step.querySelector(`:scope > template[data-choice="${chosen}"]`);
    end.replaceChildren(found.content.cloneNode(true));
    if ("right" in found.dataset) after.hidden = false;
    end.focus();
  });
}
