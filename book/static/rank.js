"use strict";
// Which sections answer a search: those with most of the words, rare ones counting more, a heading twice. Substrings, which
// work for Chinese too. A pasted error message finds the section that has it as its heading, with a traceback around it as well.
// `sections`: [page, title of the page, id, heading, words], from index.js.

const ENOUGH = 0.5, CHARS = 8;  // of the best section's points; letters from which a heading is known inside a pasted text
const letters = (text) => text.toLowerCase().replace(/\x1b\[[0-9;]*[a-z]/gi, "").replace(/[^\p{L}]/gu, "");
const texts = sections.map((one) => ({ heading: one[3].toLowerCase(), all: `${one[3]} ${one[4]}`.toLowerCase(), letters: letters(one[3]) }));
const SMALL = new Set(("a an and are as at be by can did do does for from had has have how i if in is it me my not of on or our should so that the "
  + "set then this to was we what when where which who why will with would you your").split(" "));  // words of any question
const whole = {};
function has(text, word) {  // "my" is no part of "myth": a short Latin word is found as a word alone
  if (!/^[a-z]{1,3}$/.test(word)) return text.includes(word);
  return (whole[word] ??= new RegExp(`(?<![a-z])${word}s?(?![a-z])`)).test(text);
}
const holding = (word) => texts.filter((one) => has(one.all, word)).length;

function wordsOf(query) {  // a word that stands nowhere is cut where it can be: at its dots, Chinese into pairs
  const cut = (word) => {
    if (holding(word)) return [word];
    const han = /^\p{Script=Han}+$/u.test(word);
    const parts = han ? [...word].slice(1).map((_, at) => word.slice(at, at + 2)) : word.split(/[._]/);
    return parts.length > 1 ? parts.filter((part) => part.length > 1).flatMap(cut) : [word];
  };
  const words = query.toLowerCase().replace(/=\s*(true|false)\b/g, " ").match(/\p{Script=Han}+|(?:(?!\p{Script=Han})[\p{L}\p{N}_.])+/gu) ?? [];
  const said = words.map((word) => word.replace(/^\.+|\.+$/g, "")).filter(Boolean), asked = said.filter((word) => !SMALL.has(word));
  return [...new Set((asked.length ? asked : said).flatMap(cut))];
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
  const known = new Set(texts.flatMap((one) => one.all.match(/[\p{L}\p{N}_.]*[\p{L}\p{N}]/gu) ?? []));
  const like = [...known].filter((one) => Math.abs(one.length - word.length) < 3).map((one) => [distance(word, one), one]);
  return like.filter(([far]) => far <= Math.max(1, word.length / 3)).sort((a, b) => a[0] - b[0]).slice(0, 3).map(([, one]) => one);
}

function ranked(query) {  // { words, found: [section, ...], near: [word, ...] }
  const words = wordsOf(query), pasted = letters(query);
  const weights = words.map((word) => Math.log(1 + sections.length / (1 + holding(word))));
  const most = weights.reduce((sum, one) => sum + one, 0);
  const scored = texts.map((text, at) => {
    let points = words.reduce((sum, word, place) =>
      sum + weights[place] * (has(text.heading, word) ? 2 : has(text.all, word) ? 1 : 0), 0);
    if (words.length > 1 && text.letters.length >= CHARS && (pasted.includes(text.letters) || pasted.length >= CHARS && text.letters.includes(pasted))) {
      points += most + text.letters.length / 100;  // of two headings in a pasted text the longer one first
    }
    return [points, sections[at]];
  }).filter(([points]) => points > 0).sort((a, b) => b[0] - a[0]);
  const found = scored.filter(([points]) => points >= ENOUGH * scored[0][0]).map(([, one]) => one);
  return { words, found, near: found.length ? [] : words.flatMap(nearest) };
}
