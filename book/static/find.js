"use strict";
// Search by substring, which works for Chinese too. `sections`: [page, title of the page, id, heading, words], from index.js.

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

function hit([page, title, id, heading, words], wanted) {
  const at = Math.max(0, words.toLowerCase().indexOf(wanted[0]) - AROUND);
  const row = document.createElement("li"), link = document.createElement("a"), said = document.createElement("p");
  link.href = `${page}#${id}`;
  link.append(...marked(title === heading ? title : `${title} › ${heading}`, wanted));
  said.append(at ? "… " : "", ...marked(words.slice(at, at + 3 * AROUND), wanted), "…");
  row.append(link, said);
  return row;
}

function find() {
  const wanted = form.q.value.toLowerCase().split(/\s+/).filter(Boolean);
  const all = wanted.length ? sections.filter((one) => wanted.every((word) => `${one[3]} ${one[4]}`.toLowerCase().includes(word))) : [];
  const inHeading = (one) => wanted.some((word) => one[3].toLowerCase().includes(word));
  const found = [...all.filter(inHeading), ...all.filter((one) => !inHeading(one))].slice(0, MOST);
  hits.replaceChildren(...found.map((one) => hit(one, wanted)));
  const words = all.length > MOST ? form.dataset.many : form.dataset.found;
  document.querySelector(".book-count").textContent =
    wanted.length ? words.replace("{count}", all.length).replace("{shown}", MOST) : "";
}

form.addEventListener("input", find);
form.addEventListener("submit", (event) => event.preventDefault());
form.q.focus();
