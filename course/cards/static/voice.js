"use strict";
// How the page answers an answer, by the rules of course/learning/voice.py. A test compares the two.
// past: {tries, misses} at the time of the answer, this one included.

function pastOf(item, entries) {
  const own = entries.filter((one) => one.event === "answer" && one.verdict && one.item === item.id);
  let misses = 0;
  while (misses < own.length && own[own.length - 1 - misses].verdict === "incorrect") misses += 1;
  return { tries: own.length || 1, misses };
}

function headlineKey(item, state, past) {
  if (state === "correct") return past.tries === 1 ? "hit" : "hit_again";
  if (state === "partly") return "part";
  if (past.misses >= 3) return "stubborn";
  return item.kind === "single" ? "miss" : "miss_open";
}

function stepKey(item, state, past) {
  if (state !== "incorrect" || past.misses < 3) return "";
  return item.step ? "own" : `step_${["single", "multiple"].includes(item.kind) ? "choice" : item.kind}`;
}

// {head, messages}, HTML: what is said of an answer. found: what mark() gave.
function told(item, response, found, past) {
  const { state } = found;
  if (state === "not attempted") return { head: word("not_answered"), messages: [] };
  const values = { right: item.right.join(word("comma")), points: `${found.points} / 1` };
  const said = (key) => deck.words[view.language][`said_${key}`].replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
  const praised = state === "correct" && ["single", "number"].includes(item.kind);
  const why = praised && (item.kind === "number" ? item.number.why : item.options.find((one) => one.id === item.right[0]).why);
  const seen = praised ? [pick(why)] : item.kind === "single" ? []
    : found.messages.map((one) => one.html ? pick(one.html) : word(one.key, one.values));
  const step = stepKey(item, state, past);
  const smaller = step ? [step === "own" ? pick(item.step) : said(step)] : [];
  return { head: said(headlineKey(item, state, past)), messages: [...seen, ...smaller], praised };
}
