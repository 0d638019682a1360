"use strict";
// Which sections answer a search: those with most of the words, rare ones counting more, a heading twice. Substrings, which
// work for Chinese too. A pasted error message finds the section that has it as its heading, with a traceback around it as well.
// From index.js: `sections`, [page, title of the page, id, heading, words]; `asking`, the words that say nothing, and those that mean the same.

const ENOUGH = 0.5, CHARS = 8;  // of the best section's points; letters from which a heading is known inside a pasted text
const letters = (text) => text.toLowerCase().replace(/\x1b\[[0-9;]*[a-z]/gi, "").replace(/[^\p{L}]/gu, "");
const texts = sections.map((one) => ({ heading: one[3].toLowerCase(), all: `${one[3]} ${one[4]}`.toLowerCase(), letters: letters(one[3]) }));
const SMALL = new Set(asking.small), SMALL_ZH = new RegExp(asking.smallZh, "g"), SYNONYM = 0.6;  // what another word for it counts
const HAN = /\p{Script=Han}+/gu, cutHan = (text) => text.replace(HAN, (run) => run.replace(SMALL_ZH, " "));
const IDEAS = asking.ideas.map((line) => line.map((one) => one.replace(/\*$/, "")));
const whole = {}, known = new Map();
function has(text, word) {  // "my" is no part of "myth": a short Latin word is found as a word alone
  if (!/^[a-z]{1,3}$/.test(word)) return text.includes(word);
  return (whole[word] ??= new RegExp(`(?<![a-z])${word}s?(?![a-z])`)).test(text);
}
function idea(word) {  // the other words of the line of synonyms in which it stands
  return asking.ideas.findIndex((line) => line.some((one) => one === word || one.endsWith("*") && word.startsWith(one.slice(0, -1))));
}
function term(word, line = idea(word)) {  // { word, forms, said, headed: what it counts in each section, and in its heading; weight }
  if (!known.has(word)) {
    const forms = IDEAS[line] ?? [];
    const counts = (text) => has(text, word) ? 1 : forms.some((one) => has(text, one)) ? SYNONYM : 0;
    const said = texts.map((one) => counts(one.all)), headed = texts.map((one, at) => said[at] && counts(one.heading));
    const holding = said.filter(Boolean).length;
    known.set(word, { word, forms, said, headed, holding, weight: Math.log(1 + sections.length / (1 + holding)) });
  }
  return known.get(word);
}

function termsOf(query) {  // a word that stands nowhere is cut where it can be: at its dots, Chinese into pairs
  const cut = (word) => {
    if (term(word).holding) return [word];
    const han = /^\p{Script=Han}+$/u.test(word);
    const parts = han ? [...word].slice(1).map((_, at) => word.slice(at, at + 2)) : word.split(/[._]/);
    return parts.length > 1 ? parts.filter((part) => part.length > 1).flatMap(cut) : [word];
  };
  const low = query.toLowerCase().replace(/=\s*(true|false)\b/g, " "), spaced = ` ${low.replace(/[^\p{L}\p{N}]+/gu, " ")} `;
  const phrases = IDEAS.flatMap((line, at) => line.filter((one) => one.includes(" ") && spaced.includes(` ${one}`)).map((one) => [one, at]));
  const rest = phrases.reduce((text, [one]) => text.replaceAll(one, " "), cutHan(low));
  const split = (text) => (text.match(/\p{Script=Han}+|(?:(?!\p{Script=Han})[\p{L}\p{N}_.])+/gu) ?? [])
    .map((word) => word.replace(/^\.+|\.+$/g, "")).filter(Boolean);
  const said = split(low), asked = split(rest).filter((word) => !SMALL.has(word));
  return [...new Set((asked.length || phrases.length ? asked : said).flatMap(cut))].map((word) => term(word))
    .concat(phrases.map(([one, at]) => term(one, at)));
}

function distance(one, other) {  // Levenshtein
  let row = [...one].map((_, place) => place + 1);
  [...other].forEach((sign, at) => {
    let left = at + 1, corner = at;
    row = row.map((above, place) => {
      const least = Math.min(above + 1, left + 1, corner + (one[place] !== sign));
      corner = above;
      return left = least;
    });
  });
  return row.at(-1) ?? other.length;
}

function nearest(word) {  // the words of the book most like one that it does not have
  const here = new Set(texts.flatMap((one) => one.all.match(/[\p{L}\p{N}_.]*[\p{L}\p{N}]/gu) ?? []));
  const like = [...here].filter((one) => Math.abs(one.length - word.length) < 3).map((one) => [distance(word, one), one]);
  return like.filter(([far]) => far <= Math.max(1, word.length / 3)).sort((a, b) => a[0] - b[0]).slice(0, 3).map(([, one]) => one);
}

function ranked(query) {  // { words, others: what also means them, found: [section, ...], near: [word, ...] }
  const terms = termsOf(query), pasted = letters(query), words = terms.map((one) => one.word);
  const most = terms.reduce((sum, one) => sum + one.weight, 0);
  const scored = texts.map((text, at) => {
    let points = terms.reduce((sum, one) => sum + one.weight * (one.said[at] + one.headed[at]), 0);
    if (words.length > 1 && text.letters.length >= CHARS && (pasted.includes(text.letters) || pasted.length >= CHARS && text.letters.includes(pasted))) {
      points += most + text.letters.length / 100;  // of two headings in a pasted text the longer one first
    }
    return [points, sections[at]];
  }).filter(([points]) => points > 0).sort((a, b) => b[0] - a[0]);
  const found = scored.filter(([points]) => points >= ENOUGH * scored[0][0]).map(([, one]) => one);
  return { words, others: terms.flatMap((one) => one.forms), found, near: found.length ? [] : words.flatMap(nearest) };
}
