"use strict";
// The page: which card is shown, what the learner does with it, and what stays. Parts of a card: card.js.

const deck = JSON.parse(document.getElementById("data").textContent);
const byId = new Map(deck.items.map((item) => [item.id, item]));
const answers = new Answers(deck.version);
const main = document.getElementById("card");
const live = document.getElementById("live");
const VIEW = "torch-backends-course.view";
const view = { language: deck.language || browsers(), lesson: "", show: "today", ...rememberedView() };
let queue = [];           // ids of the cards of this sitting
let at = 0;               // the place in it; queue.length is the end
let plan = null;          // what today() found, in "today"
let drafts = new Map();   // id -> response being made
let given = new Map();    // id -> {response, entry} of this sitting
let trail = [];         // ids answered in this sitting, for undo

function browsers() {  // the first of the browser's languages that the page speaks
  const wanted = (navigator.languages || [navigator.language]).map((one) => one.slice(0, 2).toLowerCase());
  return wanted.find((one) => deck.languages.includes(one)) || deck.languages[0];
}

function rememberedView() {
  try {
    const found = JSON.parse(localStorage.getItem(VIEW)) || {};
    const fits = deck.languages.includes(found.language) && (!found.lesson || deck.lessons.some((one) => one.id === found.lesson))
      && ["today", "all", "bets", "keep"].includes(found.show);
    return fits ? { language: found.language, lesson: found.lesson, show: found.show } : {};
  } catch { return {}; }
}

function rememberView() {
  try { localStorage.setItem(VIEW, JSON.stringify(view)); } catch { /* the answers say so already */ }
}

function word(key, values = {}) {
  return deck.words[view.language][key].replace(/\{(\w+)\}/g, (all, name) => {
    const value = values[name];
    return Array.isArray(value) ? value.join(deck.words[view.language].comma) : value ?? all;
  });
}

function pick(text) { return text[view.language]; }

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
  at = 0; drafts = new Map(); given = new Map(); trail = [];
  draw();
}

function current() { return byId.get(queue[at]); }

function draft(item) {
  if (!drafts.has(item.id)) drafts.set(item.id, { options: [], number: null, typed: "" });
  return drafts.get(item.id);
}

function answered(item) {  // {response} of this sitting, or the bet that was placed once and for all
  if (item.kind !== "predict") return given.get(item.id);
  const bet = answers.entries().find((one) => one.event === "bet" && one.item === item.id && one.options.length);
  return bet && { response: { options: bet.options, number: null }, entry: bet };
}

function submit(confidence) {
  const item = current(), response = draft(item);
  if (item.kind === "number") {
    response.number = parseNumber(response.typed);
    if (!response.typed.trim()) return refuse("type_first");
    if (response.number === null) return refuse("no_number", { typed: response.typed.trim() });
  } else if (!response.options.length) return refuse("choose_first");
  const fields = { confidence };
  if (response.options.length) fields.options = response.options;
  if (response.number !== null) fields.number = response.number;
  if (item.kind === "predict") {
    answers.append("bet", item, fields);
  } else {
    const { state, points } = mark(item, response);
    const entry = answers.append("answer", item, { ...fields, verdict: state, points });
    given.set(item.id, { response, entry, past: pastOf(item, answers.entries()) });
    trail.push(item.id);
  }
  say();
  draw();
  document.getElementById("result").focus();
}

function refuse(key, values) {
  say(key, values);
  const field = document.getElementById("number");
  if (field) { field.setAttribute("aria-invalid", "true"); field.focus(); }
}

function undo() {  // take the last answer of this sitting back and open its card
  const id = trail.pop();
  if (!id) return;
  answers.undo(given.get(id).entry, byId.get(id));
  given.delete(id);
  at = queue.indexOf(id);
  show("undone");
}

function again() {
  const item = current();
  given.delete(item.id);
  drafts.delete(item.id);
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
  for (const one of document.querySelectorAll("[data-language]")) {
    one.setAttribute("aria-pressed", String(one.dataset.language === view.language));
  }
  drawFilters();
  drawCount();
  main.innerHTML = view.show === "keep" ? keepHtml() : at < queue.length ? cardHtml(current(), answered(current())) : endHtml();
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
  if (!button) return;
  const { id } = button.dataset;
  ({
    back: () => go(-1), next: () => go(1), undo, again,
    submit: () => submit(Number(button.dataset.level)),
    toggle: () => toggle(id), up: () => move(id, -1), down: () => move(id, 1), remove: () => toggle(id),
    all: () => { view.show = "all"; rememberView(); sit(); show(); },
    turn: () => { for (const one of main.querySelectorAll("details")) one.open = true; },
    print: () => { for (const one of main.querySelectorAll("details")) one.open = true; window.print(); },
    round: () => { view.show = "today"; rememberView(); sit(); show(); },
  })[button.dataset.do]();
});

main.addEventListener("input", (event) => {
  const response = draft(current());
  if (event.target.id === "number") { response.typed = event.target.value; event.target.removeAttribute("aria-invalid"); }
  if (event.target.name === "choice") response.options = [...main.querySelectorAll("[name=choice]:checked")].map((one) => one.value);
});

main.addEventListener("submit", (event) => event.preventDefault());

function toggle(id) {  // a line of an order: take it in, or out
  const response = draft(current());
  response.options = response.options.includes(id) ? response.options.filter((one) => one !== id) : [...response.options, id];
  redraw(`line-${id}`);
}

function move(id, step) {
  const { options } = draft(current());
  const from = options.indexOf(id), to = from + step;
  if (to >= 0 && to < options.length) [options[from], options[to]] = [options[to], options[from]];
  redraw(`${step < 0 ? "up" : "down"}-${id}`);
}

function redraw(focus) {
  draw();
  document.getElementById(focus)?.focus();
}

function choose(place) {  // a number key
  const item = current(), option = item.options[place];
  if (!option || answered(item)) return;
  if (item.kind === "order") return toggle(option.id);
  const field = main.querySelector(`[name=choice][value="${option.id}"]`);
  field.focus();
  field.click();
}

document.addEventListener("keydown", (event) => {
  const target = event.target;
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (target !== document.body && !main.contains(target) || at >= queue.length) return;
  const typing = target.id === "number", radio = target.type === "radio", button = target.closest("button, summary");
  if (/^[1-9]$/.test(event.key) && !typing) choose(Number(event.key) - 1);
  else if (event.key === "Enter" && !button) { if (answered(current())) go(1); else submit(2); }
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
