const LINES = ["start", "launch", "stop"];  // a fence at place n stands before line n - 1; 0: nowhere; 4: after the last

function run(fences, old, kernel, launch) {  // {reading, start, stop, began, done, waits}: moments in ms
  const found = { waits: [] };
  let now = 0, done = old;
  const wait = (place) => {
    if (!fences.includes(place)) return;
    if (done > now) found.waits.push([now, done]);
    now = Math.max(now, done);
  };
  LINES.forEach((line, at) => {
    wait(at + 1);
    if (line === "launch") {
      now += launch;
      found.began = Math.max(now, done);
      done = found.began + kernel;
    } else found[line] = now;
  });
  wait(4);
  return { ...found, done, end: now, reading: found.stop - found.start };
}

function stopwatch(page) {
  const { launch } = page.numbers;
  let { old, kernel } = page.numbers, first = 0, second = 0;
  const places = ["nowhere", "before_start", "before_launch", "before_stop", "after_stop"];
  const fence = (key, change) => page.slider(key, { min: 0, max: 4, value: 0, show: (now) => page.word(places[now]) }, change);
  fence("first", (now) => { first = now; draw(); });
  fence("second", (now) => { second = now; draw(); });
  page.slider("old", { min: 0, max: 60, step: 5, value: old, show: (now) => `${now} ms` }, (now) => { old = now; draw(); });
  page.slider("kernel", { min: 5, max: 50, step: 5, value: kernel, show: (now) => `${now} ms` }, (now) => { kernel = now; draw(); });

  function draw() {
    const fences = [first, second], seen = run(fences, old, kernel, launch), reads = `${seen.reading.toFixed(1)} ms`;
    const code = { start: "start = clock()", launch: "run()", stop: "stop = clock()" };
    const wall = "<b>synchronize()</b>";
    const walls = (place) => fences.filter((one) => one === place).map(() => wall);
    const program = [...LINES.flatMap((line, at) => [...walls(at + 1), code[line]]), ...walls(4)];
    const w = page.stage.clientWidth < 560 ? 320 : 760, x0 = 12, x = (ms) => x0 + ms / Math.max(70, seen.done + 5) * (w - 2 * x0);
    const box = (from, to, y, look) => `<rect x="${x(from)}" y="${y}" width="${Math.max(2, x(to) - x(from))}" height="26" rx="4" ${look}/>`;
    const name = (y, key) => `<text x="${x0 + 6}" y="${y}" fill="var(--p-soft)" font-size="13">${page.word(key)}</text>`;
    const inside = (from, to, y, key, ink) => (x(to) - x(from) > (w === 320 ? 52 : 80)) ? `<text x="${(x(from) + x(to)) / 2}" y="${y + 17}" text-anchor="middle" fill="var(--p-${ink})" font-size="12.5">${page.word(key)}</text>` : "";
    const hand = (ms, key, up, end) => `<path d="M${x(ms)} ${up}V148" stroke="var(--p-fg)" stroke-width="2"/><text x="${x(ms)}" y="${up - 4}" text-anchor="${end}" fill="var(--p-fg)" font-size="12.5" font-weight="700">${page.word(key)}</text>`;
    page.stage.innerHTML = `<svg viewBox="0 0 ${w} 200" role="img" aria-label="${page.word("picture", { start: seen.start.toFixed(1), stop: seen.stop.toFixed(1), began: seen.began.toFixed(1), done: seen.done.toFixed(1) })}">
      <rect x="${x(seen.start)}" y="36" width="${Math.max(1, x(seen.stop) - x(seen.start))}" height="112" fill="var(--p-wash)"/>
      ${name(56, "cpu")}${seen.waits.map(([from, to]) => box(from, to, 62, 'fill="none" stroke="var(--p-edge)" stroke-dasharray="5 4"') + inside(from, to, 62, "waits", "soft")).join("")}
      ${name(112, "device")}${old ? box(0, old, 118, 'fill="var(--p-quiet)"') + inside(0, old, 118, "old_work", "fg") : ""}${box(seen.began, seen.done, 118, 'fill="var(--p-out)"')}${inside(seen.began, seen.done, 118, "the_kernel", "onout")}
      ${hand(seen.start, "started", 36, "start")}${hand(seen.stop, "stopped", 20, x(seen.stop) > w - 70 ? "end" : "start")}
      <path d="M${x0} 166H${w - x0}" stroke="var(--p-line)"/><text x="${x0}" y="184" fill="var(--p-soft)" font-size="12">0</text>
      <text x="${x(seen.done)}" y="184" text-anchor="middle" fill="var(--p-soft)" font-size="12">${seen.done.toFixed(0)} ms</text></svg>
      <pre class="tbx-program">${program.join("\n")}</pre>`;
    const verdict = seen.stop < seen.done ? "little" : seen.start < old ? "much" : "right";
    page.say(page.word(verdict, { reads, kernel }));
  }

  new ResizeObserver(draw).observe(page.controls);
  draw();
}
