"use strict";
// How the page answers an answer, by the rules of course/learning/voice.py. tests/browser/test_deck_rules.py compares the two.
// past: {tries, misses, streak} at the time of the answer, this one included.

const STREAKS = [3, 5, 8];

function pastOf(item, entries) {
  const given = entries.filter((one) => one.event === "answer" && one.verdict);
  const last = given.map((one) => one.item).lastIndexOf(item.id);
  if (last < 0) return { tries: 1, misses: 0, streak: 0 };
  const until = given.slice(0, last + 1), own = until.filter((one) => one.item === item.id);
  return { tries: own.length, misses: runOf(own, "incorrect"), streak: runOf(until, "correct") };
}

function runOf(entries, verdict) {  // how many at the end have that verdict
  let count = 0;
  while (count < entries.length && entries[entries.length - 1 - count].verdict === verdict) count += 1;
  return count;
}

function said(key, itemId, tries, values = {}) {
  const variants = deck.words[view.language][`said_${key}`];
  const sum = [...itemId].reduce((total, sign) => total + sign.codePointAt(0), 0);
  return variants[(sum + tries - 1) % variants.length].replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
}

function headlineKey(item, state, confidence, past) {
  if (state === "correct") return past.tries === 1 ? "hit" : "hit_again";
  if (state === "partly") return "part";
  if (past.misses >= 3) return "stubborn";
  if (confidence === 3 && item.kind !== "number") return "sure_miss";
  return item.kind === "single" ? "miss" : "miss_open";
}

function remarkKeys(item, state, confidence, past) {
  const keys = [], end = { correct: "right", incorrect: "wrong" }[state];
  if (state === "incorrect" && past.misses >= 3) {
    const kind = ["single", "multiple"].includes(item.kind) ? "choice" : item.kind;
    return [item.step ? "step_own" : `step_${kind}`];
  }
  if (state === "incorrect" && confidence === 3 && item.kind === "single") keys.push("what_if");
  if (end && [1, 2, 3].includes(confidence)) keys.push(`${["guess", "sure", "certain"][confidence - 1]}_${end}`);
  if (state === "correct" && past.streak && (STREAKS.includes(past.streak) || past.streak % 10 === 0)) keys.push("streak");
  return keys;
}

// {head, messages}, HTML: what is said of an answer. found: what mark() gave.
function told(item, response, found, confidence, past) {
  const { state } = found, comma = word("comma");
  if (state === "not attempted") return { head: word("not_answered"), messages: [] };
  const values = { right: item.right.join(comma), chosen: response.options.join(", "), points: `${found.points} / 1`,
    count: past.streak };
  const say = (key) => key === "step_own" ? pick(item.step) : said(key, item.id, past.tries, values);
  const praised = state === "correct" && ["single", "number"].includes(item.kind);
  const why = praised && (item.kind === "number" ? item.number.why : item.options.find((one) => one.id === item.right[0]).why);
  const seen = praised ? [pick(why)] : item.kind === "single" ? []
    : found.messages.map((one) => one.html ? pick(one.html) : word(one.key, one.values));
  return { head: say(headlineKey(item, state, confidence, past)),
    messages: [...seen, ...remarkKeys(item, state, confidence, past).map(say)], praised };
}
