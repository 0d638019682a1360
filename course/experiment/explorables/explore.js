"use strict";
// What all explorables share. Each has controls, a stage with its picture, and a sentence that is read aloud after a change.

class Explorable {
  constructor(root) {
    this.words = JSON.parse(root.dataset.words);
    this.numbers = JSON.parse(root.dataset.numbers);
    const live = root.querySelector(".tbx-live");
    [this.controls, this.stage, this.said] = ["div", "div", "p"].map((tag) => document.createElement(tag));
    this.controls.className = "tbx-controls";
    this.stage.className = "tbx-stage";
    this.said.className = "tbx-said";
    this.said.setAttribute("role", "status");
    live.replaceChildren(this.controls, this.stage, this.said);
  }

  word(key, values = {}) {
    return this.words[key].replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
  }

  control(html) {  // add one; returns its element
    this.controls.insertAdjacentHTML("beforeend", html);
    const made = this.controls.lastElementChild;
    for (const one of [made, ...made.querySelectorAll("input")]) one.dataset.lmSuppressShortcuts = "true";  // JupyterLab leaves it its arrows
    return made;
  }

  slider(key, { min, max, step = 1, value, show }, change) {  // returns a function that sets it
    const box = this.control(`<label class="tbx-slider"><span>${this.word(key)}</span><output></output>
      <input type="range" min="${min}" max="${max}" step="${step}" value="${value}"></label>`);
    const input = box.querySelector("input"), output = box.querySelector("output");
    const set = (now) => {
      input.value = now;
      output.textContent = show(Number(now));
      input.setAttribute("aria-valuetext", output.textContent);
    };
    input.addEventListener("input", () => { set(input.value); change(Number(input.value)); });
    set(value);
    return set;
  }

  choice(key, options, value, change) {  // options: [value, words]
    const name = `tbx${Math.random()}`;
    const rows = options.map(([one, words]) => `<label><input type="radio" name="${name}" value="${one}"${one === value ? " checked" : ""}><span>${words}</span></label>`);
    this.control(`<fieldset class="tbx-choice"><legend>${this.word(key)}</legend>${rows.join("")}</fieldset>`)
      .addEventListener("change", (event) => change(event.target.value));
  }

  field(key, value, change) {  // a text field; change(text) returns a sentence where it cannot be used
    const box = this.control(`<label class="tbx-field"><span>${this.word(key)}</span><input type="text" inputmode="decimal" autocomplete="off" value="${value}"></label>`);
    const input = box.querySelector("input");
    input.addEventListener("change", () => {
      const fault = change(input.value.trim());
      input.toggleAttribute("aria-invalid", Boolean(fault));
      if (fault) this.say(fault);
    });
    return input;
  }

  button(key, act, values) {
    const made = this.control(`<button type="button">${this.word(key, values)}</button>`);
    made.addEventListener("click", act);
    return made;
  }

  say(sentence) { this.said.textContent = sentence; }
}

function wake(name, make) {
  for (const root of document.querySelectorAll(`.tbx[data-explore="${name}"]:not([data-awake])`)) {
    root.dataset.awake = "";
    make(new Explorable(root));
  }
}

function scientific(value) {  // 2.0e-04, as Python writes it
  return value.toExponential(1).replace(/e([+-])(\d)$/, "e$10$2");
}

function short(value) {  // at most 9 significant digits, as Python's .9g
  return Number.isFinite(value) ? String(Number(value.toPrecision(9))) : value > 0 ? "∞" : value < 0 ? "−∞" : "NaN";
}
