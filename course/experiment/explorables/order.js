const MOST = 8;  // sums that are shown; the present one is among them
const ADD = { float32: (a, b) => Math.fround(a + b), float64: (a, b) => a + b };

function sums(numbers, add) {  // the sum after each number
  let held = 0;
  return numbers.map((one) => { held = add(held, one); return held; });
}

function lastBits(value) {  // the mantissa of the number as float32
  const cell = new DataView(new ArrayBuffer(4));
  cell.setFloat32(0, value);
  return (cell.getUint32(0) & 0x7fffff).toString(2).padStart(23, "0");
}

function shuffled(list) {
  const found = [...list];
  for (let last = found.length - 1; last > 0; last -= 1) {
    const other = Math.floor(Math.random() * (last + 1));
    [found[last], found[other]] = [found[other], found[last]];
  }
  return found;
}

function order(page) {
  let power = page.numbers.power, adder = "float32", places = page.numbers.small.map((_, at) => at + 1), seen = new Map();
  places = [0, ...places, places.length + 1];
  const numbers = () => { const large = Math.fround(10 ** power); return [large, ...page.numbers.small, -large]; };
  const again = (change) => { change(); seen = new Map(); count(); };
  page.slider("pair", { min: 0, max: 8, value: power, show: (now) => page.word("pair_said", { size: (10 ** now).toLocaleString("en") }) }, (now) => again(() => { power = now; }));
  page.choice("adder", Object.keys(ADD).map((one) => [one, page.word(one)]), adder, (now) => again(() => { adder = now; }));
  page.button("shuffle", () => { places = shuffled(places); count(); });
  page.button("sorted", () => { const all = numbers(); places.sort((a, b) => Math.abs(all[a]) - Math.abs(all[b])); count(); });

  function count() {
    const all = numbers(), list = places.map((at) => all[at]), path = sums(list, ADD[adder]), total = path.at(-1);
    seen.set(total, (seen.get(total) ?? 0) + 1);
    draw(list, path, total);
  }

  function draw(list, path, total) {
    const steps = list.map((one, at) => `<tr><td>${short(one)}</td><td>${short(path[at])}</td></tr>`);
    const first = lastBits([...seen.keys()][0]);
    const rows = [...seen].sort((a, b) => (b[0] === total) - (a[0] === total) || b[1] - a[1]).map(([sum, times]) => {
      const bits = [...lastBits(sum)].map((bit, at) => `<i class="mantissa${bit === "1" ? " one" : ""}${bit === first[at] ? "" : " other"}"></i>`);
      return `<tr${sum === total ? ' class="now"' : ""}><th scope="row">${adder === "float32" ? short(sum) : String(sum)}${sum === total ? `<small class="tbx-heard"> ${page.word("now")}</small>` : ""}</th>
        <td class="tbx-bits"><span aria-hidden="true">${bits.join("")}</span><small class="tbx-heard">${lastBits(sum)}</small></td><td>${page.word("times", { count: times })}</td></tr>`;
    });
    const more = rows.length > MOST ? `<p class="tbx-how">${page.word("rest", { count: rows.length - MOST })}</p>` : "";
    page.stage.innerHTML = `<div class="tbx-pair"><table class="tbx-steps"><thead><tr><th scope="col">${page.word("number")}</th><th scope="col">${page.word("so_far")}</th></tr></thead>
      <tbody>${steps.join("")}</tbody></table><table class="tbx-sums"><caption>${page.word("sums")}</caption><tbody>${rows.slice(0, MOST).join("")}</tbody></table></div>${more}`;
    const orders = [...seen.values()].reduce((a, b) => a + b);
    const exact = short(sums(list, ADD.float64).at(-1));
    page.say(orders === 1 ? page.word("said_once") : page.word(seen.size === 1 ? "said_same" : "said", { orders, different: seen.size, exact }));
  }

  count();
}
