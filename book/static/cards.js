"use strict";
// The cards of a page of the book: each stands where its text stood, and a bet opens the result below it. The cards of one cell
// of the notebook are a deck: one is open, the others are folded to a line, and the next opens when one is answered.

function stand(root) {
  const live = new Live(byId.get(root.dataset.item), root, { draw, say, answered });
  const said = Object.assign(document.createElement("p"), { className: "said", role: "status" });
  const place = document.createElement("div"), tap = "tap" in root.dataset;

  function draw() {
    const done = live.done();
    const again = done && live.item.kind !== "predict" ? `<div class="bar moves"><button type="button" data-do="again">${word("again")}</button></div>` : "";
    place.innerHTML = tap ? tapHtml(live.item, done) : articleHtml(live.item, done, live.response) + again;
  }

  function say(key, values) { said.textContent = key ? word(key, values) : ""; }

  function answered() {
    say();
    draw();
    const head = unfold(live)?.querySelector(".tbr-head");
    if (tap && head) { head.tabIndex = -1; head.focus({ preventScroll: true }); }
    for (const notice of answers.notices.splice(0)) say(notice.key, notice.values);
    root.dispatchEvent(new Event("answered"));
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
    if (event.target.matches(".book-fold>summary")) return;
    const free = !(event.ctrlKey || event.metaKey || event.altKey || event.isComposing);
    if (free && live.key(event)) event.preventDefault();
  });
  live.recall();
  draw();
  unfold(live);
  return { root, live };
}

function deckOf(cards) {
  if (cards.length < 2) return;
  const waits = (card) => !card.live.done();
  const first = cards.find(waits) ?? cards[0];
  cards.forEach((card, place) => {
    const gist = card.root.querySelector(".stem").firstElementChild.innerHTML;
    card.fold = Object.assign(document.createElement("details"), { className: "book-fold", open: card === first });
    card.line = document.createElement("summary");
    card.tell = () => {
      const done = card.live.done(), bet = card.live.item.kind === "predict";
      const verdict = done && word(bet ? "done_bet" : `done_${TONES[mark(card.live.item, done.response).state]}`);
      card.line.innerHTML = `<span class="at">${word("place", { at: place + 1, of: cards.length })}</span>
        <b>${word(bet ? "bet" : "question")}</b><span class="gist">${gist}</span>${verdict ? `<em>${verdict}</em>` : ""}`;
    };
    card.tell();
    card.fold.append(card.line, ...card.root.childNodes);
    card.root.append(card.fold);
    card.root.addEventListener("answered", () => {
      card.tell();
      const next = [...cards.slice(place + 1), ...cards.slice(0, place)].find(waits);
      if (next) next.fold.open = true;
    });
  });
}

function unfold(live) {  // a result, once all bets on it are placed: with the bet in its picture; the result, or null
  const mine = live.item.kind === "predict" && live.done();
  if (!mine) return null;
  const drawnFor = [...document.querySelectorAll(`template[data-item="${live.item.id}"]`)];
  if (!drawnFor.length) return null;
  const result = drawnFor[0].closest("details");
  for (const one of [result, ...result.querySelectorAll(".tbr-more")]) one.open = true;
  const bet = drawnFor.find((one) => one.dataset.option === mine.response.options[0]);
  if (!bet) return result;  // a number between the marks, from a notebook
  const drawn = bet.content.cloneNode(true);
  const picture = drawn.querySelector(".tbr-pic"), before = result.querySelector(".tbr-pic");
  if (picture && before) before.replaceWith(picture);
  for (const old of result.querySelectorAll(`.tbr-bet[data-item="${live.item.id}"], .tbr-bet:not([data-item])`)) old.remove();
  for (const words of drawn.querySelectorAll(".tbr-bet")) words.dataset.item = live.item.id;
  const fold = result.querySelector(".tbr-fold");
  if (fold) fold.before(drawn);
  else result.querySelector(".tbr").append(drawn);
  return result;
}

const standing = [...document.querySelectorAll(".book-card")].filter((root) => byId.has(root.dataset.item)).map(stand);
for (const deck of new Set(standing.map((card) => card.root.dataset.deck))) {
  deckOf(standing.filter((card) => card.root.dataset.deck === deck));
}
