"use strict";
// The page of the search: what rank.js finds, with the words marked.

const MOST = 60, AROUND = 60;
const form = document.querySelector(".book-find"), hits = document.querySelector(".book-hits");

function marked(text, wanted) {  // text nodes and <mark>s
  const low = text.toLowerCase(), parts = [];
  let from = 0;
  while (from < text.length) {
    const [at, word] = wanted.map((one) => [low.indexOf(one, from), one]).filter(([place]) => place >= 0)
      .sort((a, b) => a[0] - b[0])[0] || [-1];
    if (at < 0) break;
    parts.push(text.slice(from, at), Object.assign(document.createElement("mark"), { textContent: text.slice(at, at + word.length) }));
    from = at + word.length;
  }
  return [...parts, text.slice(from)];
}

function hit([page, title, id, heading, words], asked, others) {
  const low = words.toLowerCase(), places = (some) => some.map((word) => low.indexOf(word)).filter((place) => place >= 0);
  const here = places(asked).length ? places(asked) : places(others), wanted = [...asked, ...others.filter((word) => word.length > 3)];
  const at = Math.max(0, Math.min(...here, low.length) - AROUND);
  const row = document.createElement("li"), link = document.createElement("a"), said = document.createElement("p");
  link.href = `${page}#${id}`;
  link.append(...marked(title === heading ? title : `${title} › ${heading}`, wanted));
  if (words) said.append(at ? "… " : "", ...marked(words.slice(at, at + 3 * AROUND), wanted), "…");
  row.append(link, said);
  return row;
}

function find() {
  const { words, others, found, near } = ranked(form.q.value);
  hits.replaceChildren(...found.slice(0, MOST).map((one) => hit(one, words, others)), ...near.map(offer));
  const said = found.length > MOST ? form.dataset.many : found.length ? form.dataset.found : near.length ? form.dataset.near : form.dataset.none;
  document.querySelector(".book-count").textContent =
    words.length ? said.replace("{count}", found.length).replace("{shown}", MOST) : "";
}

function offer(word) {  // a word that the book has
  const row = document.createElement("li"), button = Object.assign(document.createElement("button"), { type: "button", textContent: word });
  button.addEventListener("click", () => { form.q.value = word; find(); });
  row.append(button);
  return row;
}

form.addEventListener("input", find);
form.addEventListener("submit", (event) => event.preventDefault());
form.q.focus();
