"use strict";
// When a concept comes back: boxes with fixed intervals, replayed from the answers. Simple on purpose; the notebooks
// plan with FSRS from the same answers. Wrong: the first box. Partly right or a guess: the same box. Right: the next.

const DAYS = [1, 3, 7, 16, 35, 90, 180];
const HOUR = 3600e3;
const AT_ONCE = 20;  // reviews in one sitting; the rest can wait
const NEW_CARDS = 8;

function timetable(entries, items) {  // concept -> {box, due, item}, due: the start of a day (ms)
  const reviewed = items.filter((item) => item.kind !== "predict");
  const byId = new Map(reviewed.map((item) => [item.id, item]));
  const last = new Map(), table = new Map();
  for (const entry of entries) {
    const item = byId.get(entry.item);
    if (entry.event !== "answer" || !item || !["correct", "partly", "incorrect"].includes(entry.verdict)) continue;
    const moment = when(entry);
    if (moment - last.get(item.id) < HOUR) continue;  // a second try: the explanation has just been read
    last.set(item.id, moment);
    const before = table.get(item.concept);
    const box = nextBox(before ? before.box : 0, entry);
    table.set(item.concept, { concept: item.concept, box, due: dayOf(moment, DAYS[box]) });
  }
  const met = new Set([...last.keys()].map((id) => byId.get(id).lesson));
  for (const one of table.values()) {
    const pool = reviewed.filter((item) => item.concept === one.concept && met.has(item.lesson));
    pool.sort((a, b) => (last.get(a.id) || 0) - (last.get(b.id) || 0) || (a.id < b.id ? -1 : 1));
    one.item = pool[0];  // its question answered longest ago, of the lessons met so far
  }
  return [...table.values()].sort((a, b) => a.due - b.due || (a.concept < b.concept ? -1 : 1));
}

function nextBox(box, entry) {
  if (entry.verdict === "incorrect") return 0;
  if (entry.verdict === "partly" || entry.confidence === 1) return box;
  return Math.min(box + 1, DAYS.length - 1);
}

function dayOf(when, later) {
  const day = new Date(when);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + later).getTime();
}

function interleave(items) {  // one from each lesson in turn
  const lessons = new Map();
  for (const item of items) lessons.set(item.lesson, [...(lessons.get(item.lesson) || []), item]);
  const rows = [...lessons.values()], mixed = [];
  while (mixed.length < items.length) rows.forEach((row) => row.length && mixed.push(row.shift()));
  return mixed;
}

function today(entries, items, now) {  // {due, fresh, waiting, next}: items to review, new ones, how many wait, when
  const table = timetable(entries, items);
  const due = table.filter((one) => one.due <= now);
  const seen = new Set(table.map((one) => one.concept));
  const fresh = [];
  for (const item of items) {
    if (item.kind === "predict" || seen.has(item.concept)) continue;
    seen.add(item.concept);
    fresh.push(item);
  }
  const room = Math.min(NEW_CARDS, Math.max(0, AT_ONCE - due.length));
  return {
    due: interleave(due.map((one) => one.item)).slice(0, AT_ONCE),
    fresh: fresh.slice(0, room),
    waiting: Math.max(0, due.length - AT_ONCE),
    next: table.filter((one) => one.due > now).map((one) => one.due)[0] || null,
  };
}
