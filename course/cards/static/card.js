"use strict";
// The HTML of one card. Texts in `deck` are HTML already, escaped when the page was built; ids are plain letters.

const TONES = { correct: "good", partly: "part", incorrect: "bad", "not attempted": "calm" };
const MARKS = { correct: "✓", partly: "◐", incorrect: "✗", "not attempted": "○" };

function escaped(text) {
  return String(text).replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
}

function own(item, name) {  // ids tell the card too: a page may show several
  return `${name}--${item.id}`;
}

function articleHtml(item, done, response) {
  const code = item.code ? `<pre tabindex="0"><code>${pick(item.code)}</code></pre>` : "";
  return `<article class="${item.kind}">
      <p class="head"><b>${word(item.kind === "predict" ? "bet" : "question")}</b> <span>${word(`task_${item.kind}`)}</span>
        <span>${item.lesson}</span></p>
      <div id="${own(item, "stem")}" class="stem">${pick(item.stem)}</div>${code}${done ? doneHtml(item, done) : askHtml(item, response)}
    </article>`;
}

function tapHtml(item, done) {  // a bet that one tap places; what came out is told beside it
  const rows = item.options.map((one) => `<button type="button" class="option" data-do="bet" data-id="${one.id}">
    <b>${one.id}</b><span>${pick(one.text)}</span></button>`);
  const choice = done ? "" : `<div role="group" aria-labelledby="${own(item, "stem")}">${rows.join("")}</div>`;
  return `<article class="predict"><div id="${own(item, "stem")}" class="stem">${pick(item.stem)}</div>${choice}</article>`;
}

// --- before the answer ---

function askHtml(item, response) {
  const levels = [1, 2, 3].map((level) =>
    `<button type="button" data-do="submit" data-level="${level}">${word(`confidence_${level}`)}</button>`);
  return `<form novalidate>${inputHtml(item, response)}<div role="group" aria-labelledby="${own(item, "sure")}">
    <p id="${own(item, "sure")}" class="sure">${word(item.kind === "predict" ? "sure_bet" : "sure")}</p><div class="bar levels">${levels.join("")}</div></div></form>`;
}

function inputHtml(item, response) {
  if (item.kind === "number") {
    const unit = pick(item.number.unit);
    return `<p class="number"><label for="${own(item, "number")}">${word("your_number", { unit })}</label>
      <input id="${own(item, "number")}" type="text" autocomplete="off" autocapitalize="off" spellcheck="false"
      placeholder="${escaped(word("for_example"))}" value="${escaped(response.typed)}"></p>`;
  }
  if (item.kind === "order") return orderHtml(item, response);
  const type = item.kind === "multiple" ? "checkbox" : "radio";
  const rows = item.options.map((one) => `<label class="option">
    <input type="${type}" name="choice" value="${one.id}"${response.options.includes(one.id) ? " checked" : ""}>
    <b>${one.id}</b><span>${pick(one.text)}</span></label>`);
  return `<fieldset aria-labelledby="${own(item, "stem")}"><legend>${word("options")}</legend>${rows.join("")}</fieldset>`;
}

function orderHtml(item, response) {
  const text = (id) => pick(item.options.find((one) => one.id === id).text);
  const line = (id) => {
    const place = response.options.indexOf(id);
    const state = place < 0 ? "" : `<em>${word("used_at", { at: place + 1 })}</em>`;
    return `<button type="button" class="option" id="${own(item, `line-${id}`)}" data-do="toggle" data-id="${id}"
      aria-pressed="${place >= 0}"><b>${id}</b><span>${text(id)}</span>${state}</button>`;
  };
  const lines = item.groups.map((ids) => ids.length < 2 ? line(ids[0]) : `<div role="group" class="pair"
    aria-label="${word("pair")}"><p aria-hidden="true">${word("pair")}</p>${ids.map(line).join("")}</div>`);
  const small = (what, sign, id) => `<button type="button" class="small" id="${own(item, `${what}-${id}`)}" data-do="${what}" data-id="${id}"
    aria-label="${word(what, { id })}">${sign}</button>`;
  const rows = response.options.map((id) => `<li><span>${text(id)}</span>
    <span class="tools">${small("up", "↑", id)}${small("down", "↓", id)}${small("remove", "✕", id)}</span></li>`);
  const chosen = rows.length ? `<ol class="chosen">${rows.join("")}</ol>` : `<p class="calm">${word("order_empty")}</p>`;
  return `<div role="group" aria-labelledby="${own(item, "stem")}">${lines.join("")}</div><p class="label">${word("your_order")}</p>${chosen}`;
}

// --- after the answer ---

// {head, messages}, HTML: what is said of an answer, by the rules of course/learning/reporting.py. found: what mark() gave.
function told(item, response, found) {
  const { state } = found;
  if (state === "not attempted") return { head: word("not_answered"), messages: [] };
  const key = { correct: "hit", partly: "part" }[state] || (item.kind === "single" ? "miss" : "miss_open");
  const head = word(`said_${key}`, { right: item.right, points: `${found.points} / 1` });
  const praised = state === "correct" && ["single", "number"].includes(item.kind);
  const why = praised && (item.kind === "number" ? item.number.why : item.options.find((one) => one.id === item.right[0]).why);
  const messages = praised ? [pick(why)] : item.kind === "single" ? []
    : found.messages.map((one) => word(one.key, one.values));
  return { head, messages, praised };
}

function doneHtml(item, { response }) {
  if (item.kind === "predict") return betHtml(item, response);
  const found = mark(item, response);
  const tone = TONES[found.state];
  const { head, messages, praised } = told(item, response, found);
  const lines = { number: numberLines, order: orderLines }[item.kind] || choiceLines;
  const next = item.experiment && found.state !== "correct"
    ? `<p class="next">${word("observe", { experiment: item.experiment })}</p>` : "";
  return `<section class="result ${tone}"><h3 id="${own(item, "result")}" tabindex="-1">${/^\p{Emoji_Presentation}/u.test(head) || head.startsWith("🕳") ? "" : `${MARKS[found.state]} `}${head}</h3>${messages.map((one) => `<p>${one}</p>`).join("")}</section>
    <ul class="lines">${lines(item, response, praised).join("")}</ul>${next}`;
}

function betHtml(item, response) {
  const [chosen] = response.options;
  const rows = item.options.map((one) => {
    const mine = one.id === chosen;
    return lineHtml(mine ? "mine" : "", escaped(one.id), pick(one.text), mine ? word("mine_bet") : "", "");
  });
  return `<section class="result calm"><h3 id="${own(item, "result")}" tabindex="-1">${word("bet_locked")}</h3>
    <p>${word(item.below ? "settled_below" : "settle", { experiment: item.experiment })}</p></section><ul class="lines">${rows.join("")}</ul>`;
}

function lineHtml(tone, label, text, state, why) {
  return `<li class="${tone}"><p><b>${label}</b><span>${text}${state ? ` <em>${state}</em>` : ""}</span></p>${why}</li>`;
}

function whyHtml(why, belief) {
  const behind = belief ? `<p class="belief">${word("belief")} <q>${pick(deck.beliefs[belief])}</q></p>` : "";
  return `<div class="why"><p>${pick(why)}</p>${behind}</div>`;
}

function choiceLines(item, response, praised) {
  const held = beliefsOf(item, response);
  return item.options.map((one) => {
    const mine = response.options.includes(one.id), right = item.right.includes(one.id);
    const state = mine ? word(right ? "mine_right" : "mine_wrong") : right ? word("right") : "";
    const tone = right ? "good" : mine ? "bad" : "";
    const label = right ? "✓" : mine ? "✗" : "";
    const belief = mine && held.includes(one.belief) ? one.belief : null;
    return lineHtml(tone, `${label} ${one.id}`, pick(one.text), state, praised && right ? "" : whyHtml(one.why, belief));
  });
}

function orderLines(item, response) {
  const held = beliefsOf(item, response), comma = word("comma");
  const option = (id) => item.options.find((one) => one.id === id);
  const steps = item.right.map((id, place) => {
    const mine = response.options.includes(id);
    const state = id + comma + word(mine ? "used" : "not_used");
    return lineHtml("good", `${place + 1}.`, pick(option(id).text), state, whyHtml(option(id).why));
  });
  const rest = item.options.filter((one) => !item.right.includes(one.id)).map((one) => {
    const mine = response.options.includes(one.id);
    const state = one.id + comma + word(mine ? "used" : "not_used") + comma + word("alien");
    return lineHtml(mine ? "bad" : "", "✗", pick(one.text), state,
      whyHtml(one.why, mine && held.includes(one.belief) ? one.belief : null));
  });
  return [...steps, ...rest];
}

function numberLines(item, response, praised) {
  const { number } = item, lines = [];
  const trap = trapOf(number, response.number);
  const hit = within(response.number, number.low, number.high);
  if (!hit) {
    const why = trap ? whyHtml(trap.why, trap.belief) : "";
    lines.push(lineHtml("bad", "✗", escaped(response.typed), word("your_number_was"), why));
  }
  lines.push(lineHtml("good", "✓", pick(number.words), word(hit ? "mine_right" : "right"), praised ? "" : whyHtml(number.why)));
  return lines;
}
