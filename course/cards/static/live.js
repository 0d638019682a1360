"use strict";
// One card at work: what the learner does with it, and what is written. The page sets `deck` (its data) and `view`
// (its language), and says where a card stands and what comes after an answer. The HTML of a card: card.js.

const byId = new Map(deck.items.map((item) => [item.id, item]));
const answers = new Answers(deck.version);

function word(key, values = {}) {
  return deck.words[view.language][key].replace(/\{(\w+)\}/g, (all, name) => {
    const value = values[name];
    return Array.isArray(value) ? value.join(deck.words[view.language].comma) : value ?? all;
  });
}

function pick(text) { return text[view.language]; }

class Live {
  // root: the element in which it stands. page: draw() shows it anew, answered() is told of an answer, say(key, values)
  // tells a sentence.
  constructor(item, root, page) {
    Object.assign(this, { item, root, page });
    this.open();
  }

  open() {  // unanswered, nothing chosen
    this.response = { options: [], number: null, typed: "" };
    this.given = null;  // {response, entry} of this sitting
  }

  recall() {  // show the answer given last
    const entry = answers.entries().filter((one) => one.event === "answer" && one.item === this.item.id).at(-1);
    if (!entry) return;
    const number = entry.number ?? null;
    this.response = { options: entry.options, number, typed: number === null ? "" : String(number) };
    this.given = { response: this.response, entry };
  }

  done() {  // {response, entry} of this sitting, or the bet that was placed once and for all
    if (this.item.kind !== "predict") return this.given;
    const bet = answers.entries().find((one) => one.event === "bet" && one.item === this.item.id && one.options.length);
    return bet && { response: { options: bet.options, number: null }, entry: bet };
  }

  submit(confidence) {
    const { item, response } = this;
    if (item.kind === "number") {
      response.number = parseNumber(response.typed);
      if (!response.typed.trim()) return this.refuse("type_first");
      if (response.number === null) return this.refuse("no_number", { typed: response.typed.trim() });
    } else if (!response.options.length) return this.refuse("choose_first");
    const fields = { confidence };
    if (response.options.length) fields.options = response.options;
    if (response.number !== null) fields.number = response.number;
    if (item.kind === "predict") {
      answers.append("bet", item, fields);
    } else {
      const { state, points } = mark(item, response);
      const entry = answers.append("answer", item, { ...fields, verdict: state, points });
      this.given = { response, entry };
    }
    this.page.answered();
    this.focus("result");
  }

  tap(id) {  // a bet of one tap: nobody asked how sure
    this.response.options = [id];
    this.submit();
  }

  refuse(key, values) {
    this.page.say(key, values);
    const field = this.part("number");
    if (field) { field.setAttribute("aria-invalid", "true"); field.focus(); }
  }

  part(name) { return document.getElementById(own(this.item, name)); }

  focus(name) { this.part(name)?.focus(); }

  press({ do: what, level, id }) {  // a button; whether it was one of the card's
    const found = {
      submit: () => this.submit(Number(level)), bet: () => this.tap(id),
      toggle: () => this.toggle(id), remove: () => this.toggle(id), up: () => this.move(id, -1), down: () => this.move(id, 1),
    }[what];
    found?.();
    return Boolean(found);
  }

  enter(field) {  // something was typed or ticked
    if (field.type === "text") { this.response.typed = field.value; field.removeAttribute("aria-invalid"); }
    if (field.name === "choice") {
      this.response.options = [...this.root.querySelectorAll("[name=choice]:checked")].map((one) => one.value);
    }
  }

  toggle(id) {  // a line of an order: take it in, or out
    const { options } = this.response;
    this.response.options = options.includes(id) ? options.filter((one) => one !== id) : [...options, id];
    this.page.draw();
    this.focus(`line-${id}`);
  }

  move(id, step) {
    const { options } = this.response;
    const from = options.indexOf(id), to = from + step;
    if (to >= 0 && to < options.length) [options[from], options[to]] = [options[to], options[from]];
    this.page.draw();
    this.focus(`${step < 0 ? "up" : "down"}-${id}`);
  }

  key(event) {  // 1 to 9 choose, Enter submits as fairly sure; whether it was one of these
    const typing = event.target.type === "text";
    if (this.done()) return false;
    if (/^[1-9]$/.test(event.key) && !typing) this.choose(Number(event.key) - 1);
    else if (event.key === "Enter" && !event.target.closest("button, summary, a")) this.submit(2);
    else return false;
    return true;
  }

  choose(place) {
    const option = this.item.options[place];
    if (!option) return;
    if (this.item.kind === "order") { this.toggle(option.id); return; }
    const field = this.root.querySelector(`[name=choice][value="${option.id}"], [data-do=bet][data-id="${option.id}"]`);
    field.focus();
    field.click();
  }
}
