const LOW = 1 / 16, HIGH = 4096;  // FLOPs a byte that the picture shows

function bend(card, format) { return 1e3 * card[format] / card.bandwidth; }

function reached(card, format, intensity) {  // TFLOP/s at most
  return Math.min(card[format], intensity * card.bandwidth / 1e3);
}

function rateWords(tera) {
  const [size, unit] = tera >= 1 ? [tera, "TFLOP/s"] : [tera * 1e3, "GFLOP/s"];
  return `${Number(size.toPrecision(size >= 100 ? 3 : 2))} ${unit}`;
}

function roofline(page) {
  const { formats, work } = page.numbers, cards = { ...page.numbers.cards, own: { float32: 0.1, tf32: null, half: null, bandwidth: 20 } };
  let name = "h100", format = "float32", intensity = work.row;
  const names = Object.keys(cards), across = (value) => Math.log2(value / LOW) / Math.log2(HIGH / LOW);
  page.choice("card", names.map((one) => [one, page.word(one)]), name, (now) => { name = now; draw(); });
  page.choice("format", formats.map((one) => [one, page.word(one)]), format, (now) => { format = now; draw(); });
  page.slider("intensity", { min: -16, max: 48, value: 4 * Math.log2(intensity), show: (now) => short(Number((2 ** (now / 4)).toPrecision(2))) }, (now) => {
    intensity = 2 ** (now / 4);
    draw();
  });
  const own = { own_peak: (value) => { cards.own.float32 = value / 1e3; }, own_bandwidth: (value) => { cards.own.bandwidth = value; } };
  const fields = Object.entries(own).map(([key, keep]) => page.field(key, key === "own_peak" ? 100 : 20, (typed) => {
    const value = Number(typed);
    if (!(value > 0) || !Number.isFinite(value)) return page.word("no_number", { typed });
    keep(value);
    draw();
    return "";
  }).parentElement);

  function draw() {
    const card = cards[name], used = card[format] ? format : "float32", kink = bend(card, used), rate = reached(card, used, intensity);
    fields.forEach((one) => { one.hidden = name !== "own"; });
    const w = page.stage.clientWidth < 560 ? 320 : 760, h = w === 320 ? 300 : 320, [x0, x1, y0, y1] = [16, w - 16, 42, h - 58];
    const all = names.flatMap((one) => formats.map((key) => cards[one][key]).filter(Boolean));
    const top = Math.max(...all) * 3, floor = Math.min(0.02, LOW * card.bandwidth / 1e3);
    const x = (value) => x0 + across(Math.min(HIGH, Math.max(LOW, value))) * (x1 - x0);
    const y = (value) => y1 - Math.log(value / floor) / Math.log(top / floor) * (y1 - y0);
    const roof = (one, key) => [LOW, Math.min(HIGH, Math.max(LOW, bend(one, key))), HIGH].map((at) => `${x(at).toFixed(1)},${y(Math.max(floor, reached(one, key, at))).toFixed(1)}`).join(" ");
    const shown = names.filter((one) => one !== "own" || name === "own").map((one) => ({ one, key: cards[one][format] ? format : "float32" }));
    let free = Infinity;  // a name stands above its line, and above the names of lower ones
    const labels = [...shown].sort((a, b) => cards[a.one][a.key] - cards[b.one][b.key]).map(({ one, key }) => {
      free = Math.min(free - 16, y(cards[one][key]) - 7);
      const mine = one === name;
      return `<text x="${x1}" y="${free}" text-anchor="end" fill="var(--p-${mine ? "out" : "soft"})" font-size="${mine ? 13.5 : 12}" font-weight="${mine ? 700 : 400}"
        paint-order="stroke" stroke="var(--p-paper)" stroke-width="4">${page.word(one)}: ${rateWords(cards[one][key])}</text>`;
    });
    const quiet = shown.filter(({ one }) => one !== name).map(({ one, key }) => `<polyline points="${roof(cards[one], key)}" fill="none" stroke="var(--p-quiet)" stroke-width="1.5"/>`);
    const left = intensity < kink, side = left ? [x0, x(kink)] : [x(kink), x1];
    const name12 = (at, down, words, ink = "fg") => `<text x="${x(at)}" y="${y1 + down}" text-anchor="middle" fill="var(--p-${ink})" font-size="12">${words}</text>`;
    const marks = Object.entries(work).map(([key, at], place) => {
      const more = { row: page.word("one_row"), rows: page.word("many_rows"), product: "1024 × 1024" }[key] ?? "";
      const said = w === 320 ? name12(at, place % 2 ? 31 : 16, (key.startsWith("row") && more) || page.word(key)) : name12(at, 16, page.word(key)) + name12(at, 31, more, "soft");
      return `<path d="M${x(at)} ${y1}v-7" stroke="var(--p-fg)" stroke-width="1.5"/>${said}`;
    });
    const label = page.word("picture", { card: page.word(name), format: page.word(used), bend: short(Number(kink.toPrecision(2))), peak: rateWords(card[used]) });
    page.stage.innerHTML = `<svg viewBox="0 0 ${w} ${h}" role="img" aria-label="${label}">
      <rect x="${side[0]}" y="${y0 - 8}" width="${Math.max(0, side[1] - side[0])}" height="${y1 - y0 + 8}" rx="8" fill="var(--p-wash)"/>
      <text x="${x0 + 4}" y="${y0 - 16}" fill="${left ? "var(--p-out)" : "var(--p-soft)"}" font-size="13" font-weight="${left ? 700 : 400}">${page.word("memory")}</text>
      <text x="${x1 - 4}" y="${w === 320 ? y0 - 30 : y0 - 16}" text-anchor="end" fill="${left ? "var(--p-soft)" : "var(--p-out)"}" font-size="13" font-weight="${left ? 400 : 700}">${page.word("arithmetic")}</text>
      <path d="M${x0} ${y1}H${x1}" stroke="var(--p-fg)" stroke-width="1.5"/>${quiet.join("")}
      <polyline points="${roof(card, used)}" fill="none" stroke="var(--p-out)" stroke-width="3" stroke-linejoin="round"/>
      ${labels.join("")}${marks.join("")}
      <path d="M${x(intensity)} ${y1}V${y(Math.max(floor, rate))}" stroke="var(--p-out)" stroke-width="1.5" stroke-dasharray="2 4"/>
      <circle cx="${x(intensity)}" cy="${y(Math.max(floor, rate))}" r="8" fill="var(--p-out)" stroke="var(--p-paper)" stroke-width="2"/>
      <text x="${x1}" y="${h - 6}" text-anchor="end" fill="var(--p-soft)" font-size="12">${page.word("intensity")} →</text>
    </svg><p class="tbx-how">${page.word("source")}</p>`;
    const share = Math.round(100 * rate / card[used]);
    const said = page.word(left ? "slow" : "fast", { rate: rateWords(rate), share: share || "<1" });
    page.say((used === format ? "" : `${page.word("lacking", { card: page.word(name), format: page.word(format) })} `) + said);
  }

  new ResizeObserver(draw).observe(page.controls);
  draw();
}
