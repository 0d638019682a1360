const cell = new DataView(new ArrayBuffer(4));

function rounded(x, mantissa) {  // a float32 with its mantissa rounded to so many bits, ties to even
  if (mantissa === 23 || !Number.isFinite(x)) return x;
  cell.setFloat32(0, x);
  const bits = cell.getInt32(0), dropped = 23 - mantissa;
  cell.setInt32(0, (bits + (1 << (dropped - 1)) - 1 + ((bits >> dropped) & 1)) & ~((1 << dropped) - 1));
  return cell.getFloat32(0);
}

function exponentOf(x) {  // of a float32, as stored
  cell.setFloat32(0, x);
  return ((cell.getUint32(0) >>> 23) & 255) - 127;
}

function half(x) {  // a float32 as float16
  if (!Number.isFinite(x) || x === 0) return x;
  const step = 2 ** (Math.max(exponentOf(x), -14) - 10), count = Math.abs(x) / step, low = Math.floor(count);
  const whole = low + (count - low > 0.5 || (count - low === 0.5 && low % 2 === 1));
  const found = Math.sign(x) * whole * step;
  return Math.abs(found) > 65504 ? Math.sign(x) * Infinity : found;
}

function stored(x, [exponent, mantissa]) {  // any number, by way of float32
  return exponent === 5 ? half(Math.fround(x)) : rounded(Math.fround(x), mantissa);
}

function total(value, terms, shape) {  // the sum of equal terms; formats of 16 bits keep the sum in their format, too
  const term = stored(value, shape), own = shape[0] + shape[1] < 16;
  let sum = 0;
  for (let place = 0; place < terms; place += 1) sum = own ? stored(sum + term, shape) : Math.fround(sum + term);
  return sum;
}

function pattern(x, [exponent, mantissa]) {  // sign, exponent and mantissa of a number that the format holds
  let bits;
  if (exponent === 5) {
    const size = Math.abs(x), sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0, e = Math.max(exponentOf(x), -14);
    if (Number.isNaN(x)) bits = 0x7e00;
    else if (size === Infinity) bits = sign | 0x7c00;
    else bits = sign | (size < 2 ** -14 ? size * 2 ** 24 : ((e + 15) << 10) + (size / 2 ** e - 1) * 1024);
    bits = bits.toString(2).padStart(16, "0");
  } else {
    cell.setFloat32(0, x);
    bits = cell.getUint32(0).toString(2).padStart(32, "0");
  }
  return [bits[0], bits.slice(1, 1 + exponent), bits.slice(1 + exponent, 1 + exponent + mantissa)];
}

function floats(page) {
  const names = Object.keys(page.numbers.formats);
  let value = page.numbers.first, terms = 1;
  const place = (number) => Math.round(100 * Math.log10(Math.abs(number) || 1e-4));
  const set = page.slider("value", { min: -400, max: 520, value: place(value), show: () => short(value) }, (now) => {
    value = Number((10 ** (now / 100)).toPrecision(4));
    field.value = value;
    field.removeAttribute("aria-invalid");
    set(now);
    draw();
  });
  const field = page.field("own", value, (typed) => {
    const number = Number(typed.replace("−", "-"));
    if (!typed || !Number.isFinite(Math.fround(number)) || Number.isNaN(number)) return page.word("no_number", { typed });
    value = number;
    set(place(value));
    draw();
    return "";
  });
  page.slider("terms", { min: 0, max: 12, value: 0, show: (now) => now ? page.word("times", { count: 2 ** now }) : page.word("once") }, (now) => {
    terms = 2 ** now;
    draw();
  });

  function boxes(parts) {  // 32 places: sign, 8 of the exponent (float16 fills the right ones), 23 of the mantissa
    const [sign, exponent, mantissa] = parts;
    const row = ["sign", ...Array(8).fill("exponent"), ...Array(23).fill("mantissa")];
    const bits = sign + exponent.padStart(8, " ") + mantissa.padEnd(23, " ");
    return row.map((kind, at) => `<i class="${bits[at] === " " ? "gone" : `${kind}${bits[at] === "1" ? " one" : ""}`}">${bits[at].trim()}</i>`).join("");
  }

  function draw() {
    const exact = value * terms;
    const rows = names.map((name) => {
      const held = total(value, terms, page.numbers.formats[name]);
      return { name, held, error: Number.isFinite(held) ? exact && Math.abs(held - exact) / Math.abs(exact) : Infinity };
    });
    const said = (error) => error === Infinity ? page.word("too_large") : error ? scientific(error) : page.word("exact");
    const body = rows.map(({ name, held, error }) => {
      const parts = pattern(held, page.numbers.formats[name]);
      return `<tr><th scope="row">${page.word(name)}</th><td class="tbx-bits"><span aria-hidden="true">${boxes(parts)}</span>
        <small class="tbx-heard">${parts.join(" ")}</small></td><td>${short(held)}</td><td>${said(error)}</td></tr>`;
    });
    const legend = ["sign", "exponent", "mantissa", "gone"].map((kind) => `<span><i class="${kind} one"></i> ${page.word(kind)}</span>`);
    const heads = ["format", "bits", "holds", "error"].map((key) => `<th scope="col">${page.word(key)}</th>`);
    page.stage.innerHTML = `<p class="tbx-legend" aria-hidden="true">${legend.join("")}</p>
      <table class="tbx-floats"><thead><tr>${heads.join("")}</tr></thead><tbody>${body.join("")}</tbody></table>
      <p class="tbx-how">${page.word("how")}</p>`;
    const sorted = [...rows].sort((a, b) => a.error - b.error), told = (row) => page.word("told", { name: page.word(row.name), error: said(row.error) });
    page.say(page.word("said", { exact: short(exact), best: told(sorted[0]), worst: told(sorted.at(-1)) }));
  }

  draw();
}
