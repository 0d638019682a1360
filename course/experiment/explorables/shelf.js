const EPOCH = [...Array(40).fill(64), 24];

function reckon(batches, { search, call }, gain) {  // what a list of sizes costs: {misses, hits, off, on, missing}
  const misses = new Set(batches).size, fast = call * (1 - gain);
  const off = batches.length * call, on = misses * search + batches.length * fast;
  return { misses, hits: batches.length - misses, off, on, missing: on <= off ? 0 : call > fast ? Math.ceil((on - off) / (call - fast)) : Infinity };
}

function milliseconds(ms) {
  return ms >= 1000 ? `${Number((ms / 1e3).toPrecision(3))} s` : `${Number(ms.toPrecision(3))} ms`;
}

function shelf(page) {
  let batches = [...page.numbers.first], gain = 0, next = 130;
  const drop = (sizes) => { batches.push(...sizes); draw(); };
  page.slider("gain", { min: -5, max: 50, value: 0, show: (now) => page.word("percent", { gain: now }) }, (now) => { gain = now / 100; draw(); });
  for (const size of page.numbers.sizes) page.button("drop", () => drop([size]), { size });
  page.button("epoch", () => drop(EPOCH));
  page.button("fresh", () => drop(Array.from({ length: 10 }, () => { next += 2; return next; })));
  page.button("clear", () => { batches = []; draw(); });

  function draw() {
    const bill = reckon(batches, page.numbers, gain), seen = new Set();
    const marks = batches.map((size) => { const hit = seen.has(size); seen.add(size); return { size, hit }; });
    const squares = marks.slice(-60).map(({ size, hit }) => `<i class="mantissa${hit ? "" : " one"}">${size}</i>`);
    const sizes = [...seen], held = sizes.slice(0, 12).map((size) => `<b>${size}</b>`).join(" ") + (sizes.length > 12 ? " …" : "");
    const w = page.stage.clientWidth < 560 ? 320 : 760, most = Math.max(bill.off, bill.on, page.numbers.search), room = w - 20;
    const long = (ms) => Math.max(1, ms / most * room), paid = milliseconds(bill.misses * page.numbers.search);
    const bar = (y, key, ms, inside) => `<text x="4" y="${y - 7}" fill="var(--p-fg)" font-size="13.5">${page.word(key)}: ${milliseconds(ms)}${inside ? ` (${page.word("of_it", { ms: paid })})` : ""}</text>
      <rect x="4" y="${y}" width="${long(ms)}" height="22" rx="3" fill="var(--p-${inside ? "out" : "quiet"})" opacity="${inside ? 0.55 : 1}"/>
      ${inside && bill.misses ? `<rect x="4" y="${y}" width="${long(bill.misses * page.numbers.search)}" height="22" rx="3" fill="var(--p-out)"/>` : ""}`;
    page.stage.innerHTML = `<p class="tbx-legend" aria-hidden="true"><span><i class="mantissa one"></i> ${page.word("miss")}</span><span><i class="mantissa"></i> ${page.word("hit")}</span></p>
      <p class="tbx-batches" aria-hidden="true">${squares.join("")}</p><p>${page.word("on_shelf", { sizes: "\u0000" }).replace("\u0000", held || page.word("nothing"))}</p>
      <svg viewBox="0 0 ${w} 104" role="img" aria-label="${page.word("picture", { off: milliseconds(bill.off), on: milliseconds(bill.on) })}">${bar(22, "off_bill", bill.off, false)}${bar(72, "on_bill", bill.on, true)}</svg>
      <p class="tbx-how">${page.word("source", { search: milliseconds(page.numbers.search), call: milliseconds(page.numbers.call), device: page.numbers.device })}</p>`;
    const end = bill.missing === 0 ? "said_paid" : bill.missing === Infinity ? "said_never" : "said_later";
    page.say(page.word(batches.length ? end : "empty", { batches: batches.length, ...bill, count: bill.missing.toLocaleString("en") }));
  }

  new ResizeObserver(draw).observe(page.controls);
  draw();
}
