"use strict";
// The learner's answers: the lines of the course's own log (course/learning/entry.py), kept in localStorage.
// Lines are only ever added. Where the browser keeps nothing, they live in memory until the page closes.

const ANSWERS = "torch-backends-course.answers";
const SCHEMA = 1;
const EVENTS = ["answer", "bet", "settled", "check", "hint", "solution", "observe", "finish", "undo", "reason"];

class Answers {
  constructor(version) {
    this.version = version;
    this.lines = new Map();  // id -> line, also lines of a newer format, which are kept and not used
    this.known = new Map();  // id -> entry
    this.notices = [];       // {key, values} for the learner
    this.standing = null;    // what entries() found, until a line is added
    this.kept = true;        // whether the browser keeps them
    this.load();
  }

  load() {
    try {
      const damaged = this.take(localStorage.getItem(ANSWERS) || "").damaged;
      if (damaged.length) {
        this.notices.push({ key: "damaged", values: { count: damaged.length } });
        localStorage.setItem(`${ANSWERS}.damaged`,
          [localStorage.getItem(`${ANSWERS}.damaged`), ...damaged].filter(Boolean).join("\n"));
        this.save();
      }
    } catch {
      this.forgetful();
    }
  }

  take(text) {  // add the lines of a log that are not here yet
    let added = 0;
    const damaged = [];
    for (const line of text.split("\n").map((one) => one.trim()).filter(Boolean)) {
      let entry = null;
      try { entry = JSON.parse(line); } catch { /* not a line of a log */ }
      const whole = entry && ["id", "time", "event", "item"].every((name) => typeof entry[name] === "string");
      if (!whole || Number.isNaN(when(entry))) { damaged.push(line); continue; }
      if (this.lines.has(entry.id)) continue;
      this.lines.set(entry.id, line);
      if (!(entry.schema > SCHEMA) && EVENTS.includes(entry.event)) {
        this.known.set(entry.id, { ...entry, options: Array.isArray(entry.options) ? entry.options : [] });
      }
      added += 1;
    }
    if (added) this.standing = null;
    return { added, damaged };
  }

  append(event, item, fields = {}) {
    const moment = new Date().toISOString().replace("Z", "000Z");  // microseconds, like every line of the log
    const entry = { id: newId(), time: moment, event, item: item.id, ...fields, lesson: item.lesson,
      version: this.version, schema: SCHEMA };
    this.take(JSON.stringify(entry));
    this.save();
    return this.known.get(entry.id);
  }

  save() {
    if (!this.kept) return;
    try {
      this.take(localStorage.getItem(ANSWERS) || "");  // another tab may have added lines
      localStorage.setItem(ANSWERS, this.text());
    } catch {
      this.forgetful();
    }
  }

  forgetful() {
    this.kept = false;
    this.notices.push({ key: "not_kept" });
  }

  text() {
    return [...this.lines.values()].map((line) => `${line}\n`).join("");
  }

  entries() {  // oldest first, without the answers that were taken back
    this.standing ??= this.find();
    return this.standing;
  }

  find() {
    const moments = new Map([...this.known.values()].map((one) => [one, when(one)]));
    const all = [...moments.keys()].sort((a, b) => moments.get(a) - moments.get(b));
    const undone = new Set(all.filter((one) => one.event === "undo").map((one) => `${one.item} ${one.options[0]}`));
    return all.filter((one) => one.event !== "undo"
      && !(one.event === "answer" && undone.has(`${one.item} ${one.id}`)));
  }
}

function when(entry) {  // ms since 1970; not every browser reads microseconds
  return Date.parse(entry.time.replace(/(\.\d{3})\d+/, "$1"));
}

function newId() {
  if (globalThis.crypto && crypto.randomUUID) return crypto.randomUUID();
  const hex = [...crypto.getRandomValues(new Uint8Array(16))].map((one) => one.toString(16).padStart(2, "0")).join("");
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5");
}
