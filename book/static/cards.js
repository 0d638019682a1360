"use strict";
// The cards of a page of the book: each stands where its text stood, and a bet opens the result below it.

function stand(root) {
  const live = new Live(byId.get(root.dataset.item), root, { draw, say, answered });
  const said = Object.assign(document.createElement("p"), { className: "said", role: "status" });
  const place = document.createElement("div");

  function draw() {
    const done = live.done();
    const again = done && live.item.kind !== "predict" ? `<div class="bar moves"><button type="button" data-do="again">${word("again")}</button></div>` : "";
    place.innerHTML = articleHtml(live.item, done, live.response) + again;
  }

  function say(key, values) { said.textContent = key ? word(key, values) : ""; }

  function answered() {
    say();
    draw();
    unfold(live);
    for (const notice of answers.notices.splice(0)) say(notice.key, notice.values);
  }

  root.replaceChildren(place, said);
  root.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-do]");
    if (!button || live.press(button.dataset)) return;
    live.open();
    draw();
    say("fresh_try");
    place.querySelector("input, button").focus();
  });
  root.addEventListener("input", (event) => live.enter(event.target));
  root.addEventListener("submit", (event) => event.preventDefault());
  root.addEventListener("keydown", (event) => {
    const free = !(event.ctrlKey || event.metaKey || event.altKey || event.isComposing);
    if (free && live.key(event)) event.preventDefault();
  });
  live.recall();
  draw();
  unfold(live);
}

function unfold(live) {  // a result, once all bets on it are placed: with the bet in its picture
  const mine = live.item.kind === "predict" && live.done();
  if (!mine) return;
  const drawnFor = [...document.querySelectorAll(`template[data-item="${live.item.id}"]`)];
  if (!drawnFor.length) return;
  const result = drawnFor[0].closest("details");
  result.open = true;
  const bet = drawnFor.find((one) => one.dataset.option === mine.response.options[0]);
  if (!bet) return;  // a number between the marks, from a notebook
  const drawn = bet.content.cloneNode(true);
  const picture = drawn.querySelector(".tbr-pic"), before = result.querySelector(".tbr-pic");
  if (picture && before) before.replaceWith(picture);
  for (const old of result.querySelectorAll(`.tbr-bet[data-item="${live.item.id}"], .tbr-bet:not([data-item])`)) old.remove();
  for (const words of drawn.querySelectorAll(".tbr-bet")) words.dataset.item = live.item.id;
  const block = result.querySelector(".tbr");
  block.insertBefore(drawn, block.querySelector(".tbr-fold"));
}

for (const root of document.querySelectorAll(".book-card")) if (byId.has(root.dataset.item)) stand(root);
