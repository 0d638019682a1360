"use strict";
// The HTML around a card on the page of all cards: where it stands, the buttons below it, the knowledge cards, the end.

function cardHtml(item) {
  const live = liveOf(item), done = live.done();
  const place = word("place", { at: at + 1, of: queue.length });
  const sitting = plan ? ` · ${word("plan", { due: plan.due.length, fresh: plan.fresh.length })}` : "";
  const due = done && done.entry && timetable(answers.entries(), deck.items).find((one) => one.concept === item.concept);
  return `<progress max="${queue.length}" value="${at + 1}" aria-hidden="true"></progress>
    <h2 id="place" tabindex="-1">${place}${sitting}</h2>
    ${articleHtml(item, done, live.response, due)}${barHtml(item, done)}`;
}

function undoable() {  // the last answer, from its own card and from the one after it
  const last = queue.indexOf(trail[trail.length - 1]);
  return last >= 0 && (last === at || last === at - 1);
}

function barHtml(item, done) {
  const button = (what, words, more = "") => `<button type="button" data-do="${what}" ${more}>${words}</button>`;
  const back = button("back", word("back"), at ? "" : "disabled");
  const retry = done && item.kind !== "predict" ? button("again", word("again")) : "";
  const taken = undoable() ? button("undo", word("undo")) : "";
  const next = done ? button("next", word("next"), 'class="go"') : button("next", word("skip_card"));
  return `<div class="bar moves">${back}${taken}${retry}${next}</div>`;
}

// --- the knowledge cards, all of them or those of a lesson ---

function keepHtml() {
  const cards = deck.cards.filter((card) => !view.lesson || card.lesson === view.lesson);
  const button = (what) => `<button type="button" data-do="${what}">${word(what === "turn" ? "turn_all" : what)}</button>`;
  return `<h2 id="place" tabindex="-1">${word("keep_head", { count: cards.length })}</h2>
    <div class="bar moves">${button("turn")}${button("print")}</div>
    <div class="tbk" lang="${document.documentElement.lang}">${cards.map((card) => pick(card.html)).join("")}</div>`;
}

// --- the end of a sitting ---

function endHtml() {
  const given = [...lives.values()].filter((one) => one.given), count = given.length;
  const right = given.filter((one) => mark(one.item, one.given.response).state === "correct").length;
  const found = today(answers.entries(), chosenItems(), Date.now());
  const head = count ? word("done") : view.show === "today" && !queue.length ? word("nothing_due") : word("done");
  const waiting = found.due.length + found.waiting;
  const more = waiting ? word("waiting", { count: waiting }) : found.next ? word("next_on", { date: dateWords(found.next) }) : "";
  const button = (what, words, go) => `<button type="button" data-do="${what}"${go ? ' class="go"' : ""}>${words}</button>`;
  const round = waiting || found.fresh.length ? button("round", word("next_round"), true) : "";
  const back = queue.length ? button("back", word("back")) : "";
  const undone = undoable() ? button("undo", word("undo")) : "";
  return `<h2 id="place" tabindex="-1">${head}</h2><article>
    ${count ? `<p>${word("done_count", { answered: count, right })}</p>` : ""}${more ? `<p>${more}</p>` : ""}</article>
    <div class="bar moves">${back}${undone}${button("all", word("see_all"))}${round}</div>`;
}
