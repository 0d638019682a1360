"use strict";
// The page of all cards: which one is shown, in which order, and what stays. A card: live.js and card.js.

const main = document.getElementById("card");
const live = document.getElementById("live");
const VIEW = "torch-backends-course.view";
const view = { language: deck.language || browsers(), lesson: "", show: "today", ...rememberedView() };
let queue = [];           // ids of the cards of this sitting
let at = 0;               // the place in it; queue.length is the end
let plan = null;          // what today() found, in "today"
let lives = new Map();    // id -> its card at work in this sitting
let trail = [];         // ids answered in this sitting, for undo

function browsers() {  // the first of the browser's languages that the page speaks
  const wanted = (navigator.languages || [navigator.language]).map((one) => one.slice(0, 2).toLowerCase());
  return wanted.find((one) => deck.languages.includes(one)) || deck.languages[0];
}

function rememberedView() {
  try {
    const found = JSON.parse(localStorage.getItem(VIEW)) || {};
    const fits = (!found.lesson || deck.lessons.some((one) => one.id === found.lesson))
      && ["today", "all", "bets", "keep"].includes(found.show);
    return { ...(deck.languages.includes(found.language) && { language: found.language }),
      ...(fits && { lesson: found.lesson, show: found.show }) };
  } catch { return {}; }
}

function rememberView() {
  try { localStorage.setItem(VIEW, JSON.stringify(view)); } catch { /* the answers say so already */ }
}

function dateWords(moment) {
  const locale = { en: "en-GB", zh: "zh-CN" }[view.language];
  return new Date(moment).toLocaleDateString(locale, { weekday: "long", day: "numeric", month: "long" });
}

function say(key, values) { live.textContent = key ? word(key, values) : ""; }

// --- a sitting ---

function chosenItems() {
  return deck.items.filter((item) => !view.lesson || item.lesson === view.lesson);
}

function sit() {  // start a sitting with the filters as they are
  plan = null;
  const items = chosenItems();
  if (view.show === "today") {
    plan = today(answers.entries(), items, Date.now());
    queue = [...plan.due, ...plan.fresh].map((item) => item.id);
  } else {
    queue = view.show === "keep" ? [] : items.filter((item) => view.show === "all" || item.kind === "predict").map((item) => item.id);
  }
  at = 0; lives = new Map(); trail = [];
  draw();
}

function current() { return byId.get(queue[at]); }

function liveOf(item) {
  if (!lives.has(item.id)) lives.set(item.id, new Live(item, main, { draw, say, answered: () => answered(item) }));
  return lives.get(item.id);
}

function answered(item) {
  if (item.kind !== "predict") trail.push(item.id);
  say();
  draw();
}

function undo() {  // take the last answer of this sitting back and open its card
  const id = trail.pop();
  if (!id) return;
  const live = liveOf(byId.get(id));
  answers.undo(live.given.entry, live.item);
  live.given = null;
  at = queue.indexOf(id);
  show("undone");
}

function again() {
  const item = current();
  liveOf(item).open();
  trail = trail.filter((id) => id !== item.id);
  show("fresh_try");
}

function go(step) {
  at = Math.min(Math.max(at + step, 0), queue.length);
  show();
}

function show(key) {
  draw();
  say(key);
  document.getElementById("place").focus();
  document.getElementById("place").scrollIntoView({ block: "nearest" });
}

// --- drawing ---

function draw() {
  document.documentElement.lang = view.language === "zh" ? "zh-CN" : "en";
  document.title = word("title");
  for (const one of document.querySelectorAll("[data-w]")) one.textContent = word(one.dataset.w);
  for (const one of document.querySelectorAll("[data-html]")) one.innerHTML = word(one.dataset.html);
  for (const one of document.querySelectorAll("[data-label]")) one.setAttribute("aria-label", word(one.dataset.label));
  document.querySelector(".languages").hidden = deck.languages.length < 2;
  for (const one of document.querySelectorAll("[data-language]")) {
    one.setAttribute("aria-pressed", String(one.dataset.language === view.language));
  }
  drawFilters();
  drawCount();
  main.innerHTML = view.show === "keep" ? keepHtml() : at < queue.length ? cardHtml(current()) : endHtml();
  if (answers.notices.length) {
    const { key, values } = answers.notices.shift();
    say(key, values);
  }
}

function drawFilters() {
  const done = new Set(answers.entries().filter((one) => one.event === "answer").map((one) => one.item));
  const option = (value, words, chosen) => `<option value="${value}"${chosen ? " selected" : ""}>${words}</option>`;
  const lessons = deck.lessons.map((lesson) => {
    const own = deck.items.filter((item) => item.lesson === lesson.id && item.kind !== "predict");
    const count = `${own.filter((item) => done.has(item.id)).length}/${own.length}`;
    return option(lesson.id, `${lesson.id} (${count}) ${pick(lesson.title)}`, view.lesson === lesson.id);
  });
  document.getElementById("lesson").innerHTML = option("", word("all_lessons"), !view.lesson) + lessons.join("");
  document.getElementById("show").innerHTML = ["today", "all", "bets", ...(deck.cards.length ? ["keep"] : [])]
    .map((one) => option(one, word(`show_${one}`), view.show === one)).join("");
}

function drawCount() {
  const latest = new Map();
  for (const one of answers.entries()) if (one.event === "answer" && byId.has(one.item)) latest.set(one.item, one.verdict);
  const right = [...latest.values()].filter((one) => one === "correct").length;
  const total = deck.items.filter((item) => item.kind !== "predict").length;
  document.getElementById("count").textContent = word("count", { answered: latest.size, total, right });
}

// --- what the learner does ---

main.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-do]");
  if (!button || at < queue.length && liveOf(current()).press(button.dataset)) return;
  ({
    back: () => go(-1), next: () => go(1), undo, again,
    all: () => { view.show = "all"; rememberView(); sit(); show(); },
    turn: () => { for (const one of main.querySelectorAll("details")) one.open = true; },
    print: () => { for (const one of main.querySelectorAll("details")) one.open = true; window.print(); },
    round: () => { view.show = "today"; rememberView(); sit(); show(); },
  })[button.dataset.do]();
});

main.addEventListener("input", (event) => liveOf(current()).enter(event.target));
main.addEventListener("submit", (event) => event.preventDefault());

document.addEventListener("keydown", (event) => {
  const target = event.target;
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (target !== document.body && !main.contains(target) || at >= queue.length) return;
  const typing = target.type === "text", radio = target.type === "radio", live = liveOf(current());
  if (live.key(event)) { /* the card's */ }
  else if (event.key === "Enter" && live.done() && !target.closest("button, summary")) go(1);
  else if (event.key === "ArrowLeft" && !typing && !radio && at > 0) go(-1);
  else if (event.key === "ArrowRight" && !typing && !radio) go(1);
  else return;
  event.preventDefault();
});

document.getElementById("filters").addEventListener("change", () => {
  view.lesson = document.getElementById("lesson").value;
  view.show = document.getElementById("show").value;
  rememberView();
  say();
  sit();
});

document.querySelector(".languages").addEventListener("click", (event) => {
  if (!event.target.dataset.language) return;
  view.language = event.target.dataset.language;
  rememberView();
  say();
  draw();
});

document.getElementById("export").addEventListener("click", () => {
  const day = new Date(), two = (one) => String(one).padStart(2, "0");
  const name = `answers-${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}.jsonl`;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([answers.text()], { type: "application/jsonl" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60e3);
  say("saved", { name });
});

document.getElementById("import").addEventListener("click", () => document.getElementById("file").click());
document.getElementById("file").addEventListener("change", async (event) => {
  const file = event.target.files[0];
  if (!file) return;
  try {
    const { added, damaged } = answers.merge(await file.text());
    sit();
    say(damaged.length ? "loaded_damaged" : "loaded", { name: file.name, added, damaged: damaged.length });
  } catch {
    say("unreadable", { name: file.name });
  }
  event.target.value = "";
});

window.addEventListener("storage", (event) => {  // another tab answered
  if (event.key === ANSWERS && event.newValue) { answers.take(event.newValue); drawFilters(); drawCount(); }
});

sit();
