"use strict";
// Marking, by the rules of course/learning/marking.py. tests/browser/test_card_rules.py compares the two on every question.
// A response is {options: [ids], number: number or null}. A message is {key, values} (see offline_words.py) or {html}.

function within(value, low, high) {
  const slack = 1e-9 * Math.max(Math.abs(low), Math.abs(high));  // room for the last bits of a decimal number
  return Number.isFinite(value) && low - slack <= value && value <= high + slack;
}

function trapOf(number, value) {
  return number.traps.find((trap) => within(value, trap.low, trap.high));
}

function verdict(share, ...messages) {
  const points = share === 1 ? 1 : Math.floor(share * 100 + 0.5) / 100;
  return { state: share === 1 ? "correct" : points > 0 ? "partly" : "incorrect", points, messages };
}

function unattempted(key) {
  return { state: "not attempted", points: 0, messages: [{ key }] };
}

function mark(item, response) {
  const chosen = [...new Set(response.options)];
  const given = response.number !== null && response.number !== undefined;
  if ((!chosen.length && !given) || (item.kind === "number") !== given) return unattempted("not_answered");
  return { single: markSingle, multiple: markMultiple, order: markOrder, number: markNumber }[item.kind](
    item, item.kind === "number" ? response.number : chosen);
}

function markSingle(item, chosen) {
  if (chosen.length > 1) return verdict(0, { key: "one_asked" });
  if (chosen[0] === item.right[0]) return verdict(1, { key: "right_option" });
  return verdict(0, { key: "other_right", values: { right: item.right[0], chosen: chosen[0] } });
}

function markMultiple(item, chosen) {
  const hits = chosen.filter((one) => item.right.includes(one)).length;
  const wrong = chosen.length - hits, total = item.right.length;
  const share = Math.max(0, (hits - wrong) / total);
  return verdict(share, share < 1 ? { key: "hits", values: { hits, total, wrong } } : { key: "exactly" });
}

function commonRun(left, right) {  // length of the longest common subsequence
  let row = new Array(right.length + 1).fill(0);
  for (const one of left) {
    const previous = row;
    row = [0];
    right.forEach((other, place) => row.push(
      one === other ? previous[place] + 1 : Math.max(row[row.length - 1], previous[place + 1])));
  }
  return row[row.length - 1];
}

function markOrder(item, chosen) {
  const strange = chosen.filter((one) => !item.right.includes(one));
  const kept = chosen.filter((one) => item.right.includes(one));
  const placed = commonRun(kept, item.right), total = item.right.length;
  if (chosen.join() === item.right.join()) return verdict(1, { key: "in_place" });
  const messages = [{ key: "placed", values: { placed, total } }];
  if (strange.length) messages.push({ key: "strange", values: { list: strange, count: strange.length } });
  if (total > kept.length) messages.push({ key: "lines_missing", values: { count: total - kept.length } });
  return verdict(Math.max(0, (placed - strange.length) / total), ...messages);
}

function markNumber(item, value) {
  const { number } = item;
  if (Number.isNaN(value)) return unattempted("not_a_number");
  if (within(value, number.low, number.high)) return verdict(1, { key: "right_number" });
  return trapOf(number, value) ? verdict(0) : verdict(0, miss(value, number.value));  // the line of a trap says why
}

function miss(value, target) {  // how far off, without giving the right number away twice
  const ratio = value / target;
  if (target && value && value > 0 === target > 0 && !(ratio >= 0.5 && ratio <= 2)) {
    const large = Math.abs(value) > Math.abs(target);
    const times = large ? ratio : target / value;
    if (times >= 1e6) return { key: large ? "far_too_large" : "far_too_small" };
    const about = times < 10 ? String(Number(times.toPrecision(2))) : grouped(times);
    return { key: large ? "too_large_by" : "too_small_by", values: { times: about } };
  }
  return { key: value > target ? "too_large" : "too_small" };
}

function grouped(value) {  // 400,000
  return value.toLocaleString("en-US", { maximumFractionDigits: 0 });
}

function beliefsOf(item, response) {  // ids of the false beliefs behind the wrong choices
  if (item.kind === "number") {
    const { number } = item, value = response.number;
    const trap = trapOf(number, value);
    return trap && !within(value, number.low, number.high) && trap.belief ? [trap.belief] : [];
  }
  const wrong = item.options.filter((one) => response.options.includes(one.id) && !item.right.includes(one.id));
  return [...new Set(wrong.map((one) => one.belief).filter(Boolean))];
}

function parseNumber(typed) {  // 3, 2.5e6, 1,234,567, full-width digits; null for anything else
  let clean = typed.normalize("NFKC").trim().replaceAll("_", "").replaceAll(" ", "").replaceAll("−", "-");
  if (/^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/.test(clean)) clean = clean.replaceAll(",", "");
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(clean)) return null;
  const value = Number(clean);
  return Number.isFinite(value) ? value : null;
}
