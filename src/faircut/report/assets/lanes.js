/* A document with every chunker's cuts as parallel lanes: the text in rows of equal height, of which only those in view
   are elements, so that a long one stays fluent. Lanes, curve and overview are drawn on canvases beside it; all that they
   say is also said in words, for the chunk that is chosen. */
"use strict";
(function () {
  const { el, at: lastAt } = faircut;
  const ROW = 21;
  const AHEAD = 12;

  /* ---------------------------------------------------------- data */

  /* A document as it lies in a part, with offsets in UTF-16 units and lanes with starts and ends. */
  faircut.decode = function (raw) {
    const unit = faircut.offsets(raw.text);
    return {
      ...raw,
      unit,
      blocks: raw.blocks.map(([kind, start, end, level]) => ({ kind, start: unit(start), end: unit(end), level })),
      lanes: raw.lanes.map((lane) => decodeLane(lane, unit)),
    };
  };

  function decodeLane(lane, unit) {
    const starts = faircut.sums(lane.starts);
    const ends = starts.map((s, i) => s + lane.lengths[i]);
    const contexts = new Map();
    for (const [text, numbers] of lane.contexts || []) for (const n of numbers) contexts.set(n, text);
    const spans = starts.map((s, i) => (lane.spans?.[i] || [[s, ends[i]]]));
    const curve = lane.curve && {
      positions: faircut.sums(lane.curve.positions).map(unit),
      values: lane.curve.values.map((v) => v / 1000),
      threshold: lane.curve.threshold,
    };
    return {
      starts: starts.map(unit),
      ends: ends.map(unit),
      points: spans,  // in code points, as files have them
      spans: spans.map((s) => s.map(([a, b]) => [unit(a), unit(b)])),
      tokens: lane.tokens,
      contexts,
      texts: lane.texts || {},
      curve,
      overlaps: starts.some((s, i) => i && s < ends[i - 1]),
      ordered: starts.every((s, i) => !i || s >= starts[i - 1]),
      count: starts.length,
    };
  }

  /* ---------------------------------------------------------- rows */

  const wide = (c) => (c >= 0x1100 && c < 0x1160) || (c >= 0x2e80 && c < 0xa4d0) || (c >= 0xac00 && c < 0xd7a4)
    || (c >= 0xf900 && c < 0xfb00) || (c >= 0xfe30 && c < 0xfe70) || (c >= 0xff00 && c < 0xff61);

  /* Where rows of so many columns begin: after line ends, at white space, inside a word only where it is too long. */
  faircut.rows = function (text, columns) {
    const rows = [0];
    let width = 0, space = -1, before = 0, start = 0;
    for (let i = 0; i < text.length; i++) {
      const c = text.charCodeAt(i);
      if (c === 10 || (c === 13 && text.charCodeAt(i + 1) !== 10)) {
        if (i + 1 < text.length) rows.push(i + 1);
        width = 0; space = -1; start = i + 1;
        continue;
      }
      const white = c === 32 || c === 9;
      width += c === 9 ? 4 : c >= 0xd800 && c < 0xe000 ? 1 : c > 0x10ff && wide(c) ? 2 : c >= 0x300 && c < 0x370 ? 0 : 1;
      if (white) { space = i + 1; before = width; }
      if (width > columns && !white) {
        if (space > start) { start = space; width -= before; }
        else {
          start = c >= 0xdc00 && c < 0xe000 ? i - 1 : i;
          if (start === rows[rows.length - 1]) start = i + 1;
          width = 2;
        }
        rows.push(start);
        space = -1;
      }
    }
    return rows;
  };

  /* ---------------------------------------------------------- the viewer */

  /* options: labels [text], controls [whether a row is one, may be left out], document (decoded), evidence [{start, end, label, href}], active, at, end,
     onLane(lane). Answers {node, jump(position), choose(lane), select(lane, number of a chunk), update(document, labels)}. */
  faircut.lanes = function (options) {
    const labels = options.labels;
    let doc = options.document;
    const evidence = [...(options.evidence || [])].sort((a, b) => a.start - b.start);
    const state = { active: Math.min(options.active || 0, labels.length - 1), chosen: -1, flash: null };
    const isControl = (i) => Boolean(options.controls?.[i]);
    let columnsOf = labels.map((_, i) => i);  // the rows that have a lane, from left to right
    let rows = [0], columns = 80, nodes = new Map(), pending = 0;

    const sizer = el("div", { class: "sizer" });
    const view = el("div", { class: "text", tabindex: "0", role: "region", "aria-label": `Text of ${faircut.visible(doc.title || doc.id)} with its cuts. n and p go to the next and previous cut, e to the next evidence.` }, sizer);
    const lanesCanvas = el("canvas", { class: "lanes", "aria-hidden": "true" });
    const curveCanvas = el("canvas", { class: "curve", "aria-hidden": "true" });
    const mapCanvas = el("canvas", { class: "map", role: "img", "aria-label": "The whole document from left to right: a line of chunks for each chunker, the evidence, and the similarity curve. The table of chunks below says the same in numbers." });
    const tip = el("div", { class: "tip", hidden: true });
    const said = el("p", { class: "chosen", role: "status" });
    const curveNote = el("span", { class: "curve-note" });
    const body = el("div", { class: "body" }, lanesCanvas, view, curveCanvas, tip);
    const list = el("div", { class: "chunk-list" });

    const radios = labels.map((label, i) => {
      const radio = el("input", { type: "radio", name: "lane", value: String(i), on: { change: () => choose(i) } });
      const count = el("span", { class: "count" });
      const name = el("span", {}, faircut.outside(label));
      const node = el("label", { class: `lane c${i % 10}` }, radio, faircut.key(i), name, count);
      return { radio, count, name, node };
    });
    const step = (name, act, label) => el("button", { type: "button", "aria-label": label, on: { click: act } }, name);
    const controls = el("div", { class: "steps" },
      el("span", { class: "group" },
        step("\u2190 cut", () => go(-1), "Previous cut of the chosen chunker"), step("cut \u2192", () => go(1), "Next cut of the chosen chunker")),
      evidence.length ? el("span", { class: "group" },
        step("\u2190 evidence", () => goEvidence(-1), "Previous evidence"), step("evidence \u2192", () => goEvidence(1), "Next evidence")) : null,
      curveNote);
    const controlRadios = radios.filter((_, i) => isControl(i));
    const more = controlRadios.length ? el("details", { class: "more-lanes", open: innerWidth > 700 || isControl(state.active) },
      el("summary", {}, `${faircut.plural(controlRadios.length, "control")}: the same sizes, shuffled`), el("div", { class: "switch" }, controlRadios.map((r) => r.node))) : null;
    if (more) more.addEventListener("toggle", () => { setColumns(); if (body.clientWidth) { layout(); drawMap(); } });
    const setColumns = () => { columnsOf = labels.map((_, i) => i).filter((i) => !more || more.open || !isControl(i) || i === state.active); };
    const key = (letter, words) => el("span", {}, el("kbd", {}, letter), ` ${words}`);
    const marks = el("div", { class: "marks" },
      el("span", {}, el("i", { class: "sample cut-sample", "aria-hidden": "true" }), "a cut; the number is that of the chunk that begins"),
      el("span", {}, el("i", { class: "sample shade-sample", "aria-hidden": "true" }), "every second chunk"),
      evidence.length ? el("span", {}, el("mark", { class: "evidence" }, "evidence"), " of a question") : null,
      el("span", { class: "twice-note" }, el("i", { class: "sample twice-sample", "aria-hidden": "true" }), "in two chunks (overlap)"),
      el("span", { class: "keys" }, "In the text: ", key("n", "next cut, "), key("p", "previous"), evidence.length ? [", ", key("e", "next evidence")] : null));
    const node = el("div", { class: "viewer" },
      el("fieldset", { class: "switch" }, el("legend", {}, "Chunker whose cuts are marked in the text (number of chunks \u00d7 median size in tokens)"), radios.filter((_, i) => !isControl(i)).map((r) => r.node), more),
      el("figure", { class: "map-wrap" }, mapCanvas, el("figcaption", {}, "The whole document from left to right, a line for each row. The frame is what the text below shows; drag it, or click.")),
      controls, marks, said, body, list);

    /* -------------------------------------------------------- geometry */

    const rowOf = (p) => Math.max(0, lastAt(rows, p));
    const rowEnd = (r) => (r + 1 < rows.length ? rows[r + 1] : doc.text.length);
    function height(p) {  // pixels from the top to a position, its share of the row included
      if (p >= doc.text.length) return rows.length * ROW;
      const r = rowOf(p);
      return (r + (p - rows[r]) / Math.max(1, rowEnd(r) - rows[r])) * ROW;
    }

    const laneWidth = () => (body.clientWidth < 520 ? 6 : 11);
    const curveLane = () => (doc.lanes[state.active]?.curve ? state.active : doc.lanes.findIndex((l) => l.curve));

    function layout() {
      const width = body.clientWidth;
      if (!width) return;
      const left = columnsOf.length * laneWidth() + 14;
      const right = curveLane() >= 0 && width > 700 ? 110 : 0;
      body.style.setProperty("--left", `${left}px`);
      body.style.setProperty("--right", `${right}px`);
      const probe = el("span", { class: "row probe" }, "0".repeat(100));
      sizer.append(probe);
      const character = probe.getBoundingClientRect().width / 100;
      probe.remove();
      columns = Math.max(16, Math.min(110, Math.floor((width - left - right - 34) / character)));
      const top = rows[Math.floor(view.scrollTop / ROW)] ?? 0;
      const offset = view.scrollTop % ROW;
      rows = faircut.rows(doc.text, columns);
      sizer.style.height = `${rows.length * ROW}px`;
      for (const n of nodes.values()) n.remove();
      nodes = new Map();
      if (top) view.scrollTop = rowOf(top) * ROW + offset;
      draw();
    }

    /* -------------------------------------------------------- text */

    const blockAt = (p) => { const i = lastAt(blockStarts, p); return i >= 0 ? doc.blocks[i] : null; };
    let blockStarts = [];

    function segments(start, end) {
      const edges = new Set([start, end]);
      const add = (p) => { if (p > start && p < end) edges.add(p); };
      const lane = doc.lanes[state.active];
      const chunks = touching(lane, start, end);
      for (const i of chunks) for (const [a, b] of lane.spans[i]) { add(a); add(b); }
      const marks = evidence.filter((e) => e.start < end && e.end > start);
      for (const e of marks) { add(e.start); add(e.end); }
      if (state.flash) { add(state.flash[0]); add(state.flash[1]); }
      const sorted = [...edges].sort((a, b) => a - b);
      return sorted.slice(0, -1).map((a, i) => {
        const b = sorted[i + 1];
        const holders = chunks.filter((c) => lane.spans[c].some(([x, y]) => x < b && y > a));
        return {
          a, b, holders,
          begins: chunks.filter((c) => lane.starts[c] === a),
          evidence: marks.filter((e) => e.start < b && e.end > a),
          flash: state.flash && state.flash[0] < b && state.flash[1] > a,
        };
      });
    }

    /* The numbers of the chunks that touch a range; starts are in order unless a chunker broke it. */
    function touching(lane, start, end) {
      const found = [];
      if (!lane) return found;
      const first = lane.ordered ? Math.max(0, faircut.below(lane.reach, start + 1)) : 0;
      for (let i = first; i < lane.count; i++) {
        if (lane.ordered && lane.starts[i] >= end) break;
        if (lane.starts[i] < end && lane.ends[i] > start) found.push(i);
      }
      return found;
    }

    function makeRow(r) {
      const start = rows[r], end = rowEnd(r);
      const block = blockAt(start);
      const kind = block && block.kind !== "paragraph" ? ` ${block.kind}` : "";
      const line = el("div", { class: `row${kind}${r ? "" : " first"}`, dir: "auto" });
      line.style.top = `${r * ROW}px`;
      if (block && (block.kind === "table" || block.kind === "code") && rowOf(block.start) === r) line.append(el("span", { class: "kind" }, block.kind));
      for (const s of segments(start, end)) {
        const text = faircut.visible(doc.text.slice(s.a, s.b).replace(/[\r\n]+$/, ""));
        const classes = [s.holders.length ? `k${s.holders[0] % 2}` : /\S/.test(text) ? "none" : ""];
        if (s.holders.length > 1) classes.push("twice");
        if (s.evidence.length) classes.push("evidence");
        if (s.flash) classes.push("flash");
        if (s.holders.includes(state.chosen)) classes.push("chosen-text");
        if (s.begins.length) line.append(el("span", { class: `cut c${state.active % 10}`, data: { number: String(s.begins[0] + 1) }, "aria-hidden": "true" }));
        const piece = s.evidence.length ? el("mark", { class: classes.join(" ") }, text) : el("span", { class: classes.join(" ") }, text);
        if (s.holders.length) piece.dataset.chunk = String(s.holders[s.holders.length - 1]);
        line.append(piece);
      }
      return line;
    }

    function draw() {
      pending = 0;
      const first = Math.max(0, Math.floor(view.scrollTop / ROW) - AHEAD);
      const last = Math.min(rows.length - 1, Math.ceil((view.scrollTop + view.clientHeight) / ROW) + AHEAD);
      for (const [r, n] of nodes) if (r < first || r > last) { n.remove(); nodes.delete(r); }
      const made = document.createDocumentFragment();
      for (let r = first; r <= last; r++) if (!nodes.has(r)) { const n = makeRow(r); nodes.set(r, n); made.append(n); }
      sizer.append(made);
      drawLanes();
      drawCurve();
      drawWindow();
    }

    const redraw = () => { for (const n of nodes.values()) n.remove(); nodes = new Map(); draw(); };
    const later = () => { if (!pending) pending = requestAnimationFrame(draw); };

    /* -------------------------------------------------------- canvases */

    function canvas(node, width, heightPx) {
      const ratio = window.devicePixelRatio || 1;
      if (node.width !== Math.round(width * ratio) || node.height !== Math.round(heightPx * ratio)) {
        node.width = Math.round(width * ratio);
        node.height = Math.round(heightPx * ratio);
        node.style.width = `${width}px`;
        node.style.height = `${heightPx}px`;
      }
      const c = node.getContext("2d");
      c.setTransform(ratio, 0, 0, ratio, 0, 0);
      c.clearRect(0, 0, width, heightPx);
      return c;
    }

    function drawLanes() {
      const w = laneWidth(), top = view.scrollTop, h = view.clientHeight;
      const c = canvas(lanesCanvas, columnsOf.length * w + 8, h);
      const from = rows[Math.floor(top / ROW)] ?? 0;
      const to = rowEnd(Math.min(rows.length - 1, Math.ceil((top + h) / ROW)));
      columnsOf.forEach((i, column) => {
        const lane = doc.lanes[i];
        c.fillStyle = faircut.colour(i);
        const x = 4 + column * w, thick = w - 3;
        for (const n of touching(lane, from, to)) {
          for (const [a, b] of lane.spans[n]) {
            if (b <= from || a >= to) continue;
            const y = height(a) - top, z = height(b) - top;
            c.globalAlpha = (i === state.active ? 1 : 0.62) * (n % 2 ? 0.55 : 1);
            if (lane.overlaps) c.fillRect(x + (n % 2 ? thick / 2 : 0), y + 0.5, thick / 2, Math.max(1, z - y - 1));
            else c.fillRect(x, y + 0.5, thick, Math.max(1, z - y - 1.5));
          }
        }
        c.globalAlpha = 1;
        if (i === state.active) { c.fillRect(x - 1.5, 0, 1, h); c.fillRect(x + thick + 0.5, 0, 1, h); }
        if (w > 8) {
          c.fillStyle = faircut.tint("paper");
          c.fillRect(x - 1, 0, thick + 2, 12);
          letter(c, faircut.letter(i), x + thick / 2, 6, i === state.active ? "ink" : "muted", "center");
        }
      });
    }

    function letter(c, text, x, y, tint, align) {
      c.font = `700 9.5px ${getComputedStyle(document.body).fontFamily}`;
      c.fillStyle = faircut.tint(tint);
      c.textAlign = align;
      c.textBaseline = "middle";
      c.fillText(text, x, y);
    }

    function drawCurve() {
      const i = curveLane();
      curveNote.textContent = "";
      if (i < 0) { curveCanvas.hidden = true; return; }
      const curve = doc.lanes[i].curve;
      const t = curve.threshold;
      curveNote.append(`Curve${body.clientWidth > 700 ? " at the right" : ""}: similarity of neighbouring sentences, 0 to 1, ${faircut.letter(i)} `, faircut.outside(labels[i]), t === null ? "" : `; dashed: its threshold ${t.toFixed(2)}`);
      curveCanvas.hidden = body.clientWidth <= 700;
      if (curveCanvas.hidden) return;
      const top = view.scrollTop, h = view.clientHeight, width = 100;
      const c = canvas(curveCanvas, width, h);
      const x = (v) => 6 + (width - 14) * (Math.max(-0.2, v) + 0.2) / 1.2;
      const from = rows[Math.max(0, Math.floor(top / ROW) - 40)] ?? 0;
      const to = rowEnd(Math.min(rows.length - 1, Math.ceil((top + h) / ROW) + 40));
      const first = Math.max(0, faircut.below(curve.positions, from) - 1);
      const last = Math.min(curve.positions.length, faircut.below(curve.positions, to) + 1);
      c.strokeStyle = faircut.colour(i);
      c.lineWidth = 1.4;
      c.beginPath();
      for (let k = first; k < last; k++) c[k === first ? "moveTo" : "lineTo"](x(curve.values[k]), height(curve.positions[k]) - top);
      c.stroke();
      c.fillStyle = faircut.tint("ink");
      for (let k = first; k < last; k++) {
        if (t !== null && curve.values[k] < t) {
          c.beginPath();
          c.arc(x(curve.values[k]), height(curve.positions[k]) - top, 2.4, 0, 7);
          c.fill();
        }
      }
      letter(c, "0", x(0), 6, "muted", "center");
      letter(c, "1", x(1), 6, "muted", "center");
      if (t !== null) {
        c.strokeStyle = faircut.tint("ink");
        c.lineWidth = 1;
        c.setLineDash([4, 3]);
        c.beginPath();
        c.moveTo(x(t), 0);
        c.lineTo(x(t), h);
        c.stroke();
        c.setLineDash([]);
      }
    }

    const mapImage = document.createElement("canvas");  // the map without the frame of what is in view
    const GUTTER = 54;  // room for letters and words at the left of the map
    const mapHeights = () => ({ lane: 9, evidence: evidence.length ? 9 : 0, curve: curveLane() >= 0 ? 34 : 0 });

    function drawMap() {
      const width = mapCanvas.parentElement.clientWidth;
      if (!width) return;
      const s = mapHeights();
      const h = columnsOf.length * (s.lane + 2) + s.evidence + s.curve + 4;
      canvas(mapCanvas, width, h);
      const c = canvas(mapImage, width, h);
      const x = (p) => GUTTER + (p / Math.max(1, doc.text.length)) * (width - GUTTER);
      columnsOf.forEach((i, line) => {
        const lane = doc.lanes[i];
        const y = 2 + line * (s.lane + 2);
        letter(c, faircut.letter(i), GUTTER - 6, y + s.lane / 2 + 0.5, i === state.active ? "ink" : "muted", "right");
        c.fillStyle = faircut.colour(i);
        lane.starts.forEach((a, n) => {
          c.globalAlpha = (n % 2 ? 0.5 : 1) * (i === state.active ? 1 : 0.7);
          const left = x(a), right = x(lane.ends[n]);
          c.fillRect(left, y, Math.max(0.4, right - left - (right - left > 3 ? 0.8 : 0)), s.lane);
        });
        c.globalAlpha = 1;
      });
      let y = columnsOf.length * (s.lane + 2) + 2;
      if (s.evidence) {
        letter(c, "evidence", GUTTER - 6, y + s.evidence / 2, "muted", "right");
        c.fillStyle = faircut.tint("ink");
        for (const e of evidence) c.fillRect(x(e.start), y + 1, Math.max(3, x(e.end) - x(e.start)), s.evidence - 3);
        y += s.evidence;
      }
      const i = curveLane();
      if (i >= 0) letter(c, `curve ${faircut.letter(i)}`, GUTTER - 6, y + s.curve / 2, "muted", "right");
      if (i >= 0) drawMapCurve(c, doc.lanes[i].curve, i, x, y, s.curve, width);
      drawWindow();
    }

    function drawMapCurve(c, curve, i, x, top, h, width) {
      const y = (v) => top + h - 2 - (h - 4) * (Math.max(-0.2, v) + 0.2) / 1.2;
      c.strokeStyle = faircut.colour(i);
      c.lineWidth = 0.9;
      c.beginPath();
      curve.positions.forEach((p, k) => c[k ? "lineTo" : "moveTo"](x(p), y(curve.values[k])));
      c.stroke();
      if (curve.threshold === null) return;
      c.strokeStyle = faircut.tint("ink");
      c.setLineDash([4, 3]);
      c.beginPath();
      c.moveTo(GUTTER, y(curve.threshold));
      c.lineTo(width, y(curve.threshold));
      c.stroke();
      c.setLineDash([]);
    }

    function drawWindow() {
      const width = mapCanvas.parentElement.clientWidth;
      if (!width || !mapImage.height) return;
      const c = canvas(mapCanvas, width, mapImage.height / (window.devicePixelRatio || 1));
      c.drawImage(mapImage, 0, 0, width, mapCanvas.clientHeight);
      const all = Math.max(1, doc.text.length);
      const first = rows[Math.min(rows.length - 1, Math.floor(view.scrollTop / ROW))] ?? 0;
      const last = rowEnd(Math.min(rows.length - 1, Math.ceil((view.scrollTop + view.clientHeight) / ROW)));
      c.strokeStyle = faircut.tint("ink");
      c.lineWidth = 1.5;
      const wide = width - GUTTER;
      c.strokeRect(GUTTER + (first / all) * wide + 0.75, 0.75, Math.max(4, ((last - first) / all) * wide - 1.5), mapCanvas.clientHeight - 1.5);
    }

    /* -------------------------------------------------------- choosing */

    function describe(lane, n) {
      const l = doc.lanes[lane];
      const places = l.points[n].map(([a, b]) => `${faircut.whole(a)}\u2013${faircut.whole(b)}`).join(", ");
      const length = l.points[n].reduce((sum, [a, b]) => sum + b - a, 0);
      const context = l.contexts.get(n);
      return `${faircut.visible(labels[lane])}: chunk ${n + 1} of ${l.count}, ${faircut.plural(l.tokens[n], "token")}, ${faircut.plural(length, "character")} (${places})`
        + (context ? `, in front of it: ${faircut.visible(context).slice(0, 120)}` : "");
    }

    function choose(lane, quiet) {
      state.active = lane;
      state.chosen = -1;
      radios.forEach((r, i) => { r.radio.checked = i === lane; });
      node.className = `viewer active-c${lane % 10}`;
      marks.querySelector(".twice-note").hidden = !doc.lanes[lane].overlaps;
      if (more && isControl(lane)) more.open = true;
      layoutIfCurveMoved();
      redraw();
      drawMap();
      showList();
      const l = doc.lanes[lane];
      said.textContent = l.count ? `${faircut.visible(labels[lane])}: ${faircut.plural(l.count, "chunk")}, median ${faircut.whole(median(l.tokens))} tokens.` : `${faircut.visible(labels[lane])} made no chunk of this document.`;
      if (!quiet && options.onLane) options.onLane(lane);
    }

    let hadCurve = null;
    function layoutIfCurveMoved() {
      const has = curveLane() >= 0;
      if (hadCurve !== has) { hadCurve = has; layout(); }
    }

    function select(n) {
      state.chosen = n;
      said.textContent = `${describe(state.active, n)}.`;
      const rewritten = doc.lanes[state.active].texts[n];
      if (rewritten !== undefined) said.append(" Rewritten as: ", faircut.outside(rewritten));
      redraw();
    }

    function go(by) {
      const lane = doc.lanes[state.active];
      if (!lane.count) return;
      let n = state.chosen + by;
      if (state.chosen < 0) {
        const top = rows[Math.floor(view.scrollTop / ROW)] ?? 0;
        n = by > 0 ? faircut.below(lane.starts, top) : Math.max(0, faircut.below(lane.starts, top) - 1);
      }
      n = Math.max(0, Math.min(lane.count - 1, n));
      reveal(lane.starts[n]);
      select(n);
    }

    let current = -1;
    function goEvidence(by) {
      if (!evidence.length) return;
      if (current < 0) current = by > 0 ? -1 : 0;
      current = (current + by + evidence.length) % evidence.length;
      const e = evidence[current];
      jump(e.start, e.end);
      said.replaceChildren(`Evidence ${current + 1} of ${evidence.length}: `, e.href ? el("a", { href: e.href }, faircut.outside(e.label)) : faircut.outside(e.label || ""));
    }

    function reveal(p) {
      const y = rowOf(p) * ROW;
      view.scrollTop = Math.max(0, y - Math.min(view.clientHeight / 3, 160));
    }

    function jump(start, end) {
      state.flash = [start, end || start + 1];
      reveal(start);
      redraw();
    }

    function showList() {
      const lane = doc.lanes[state.active];
      const details = el("details", {}, el("summary", {}, `All ${faircut.plural(lane.count, "chunk")} of `, faircut.outside(labels[state.active])));
      details.addEventListener("toggle", () => {
        if (!details.open || details.querySelector("table")) return;
        details.append(faircut.table({
          id: "chunks", caption: `Chunks by ${faircut.visible(labels[state.active])}`,
          columns: [{ name: "chunk", number: true }, { name: "start", number: true }, { name: "end", number: true }, { name: "tokens", number: true }, { name: "begins with" }],
          rows: lane.starts.map((_, n) => {
            const points = lane.points[n];
            const first = (lane.texts[n] ?? doc.text.slice(lane.starts[n], lane.starts[n] + 90)).replace(/\s+/g, " ").trim();
            const open = () => el("button", { type: "button", class: "link", on: { click: () => { reveal(lane.starts[n]); select(n); view.focus(); } } }, String(n + 1));
            return [{ show: open, value: n + 1 }, points[0][0], points[points.length - 1][1], lane.tokens[n], first];
          }),
        }));
      });
      list.replaceChildren(details);
    }

    const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

    /* -------------------------------------------------------- events */

    view.addEventListener("scroll", later, { passive: true });
    view.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const act = { n: () => go(1), p: () => go(-1), e: () => goEvidence(1) }[event.key];
      if (act) { event.preventDefault(); act(); }
    });
    body.addEventListener("pointermove", (event) => {
      const box = body.getBoundingClientRect();
      const x = event.clientX - box.left, y = event.clientY - box.top;
      let lane = state.active, n = -1;
      if (x < columnsOf.length * laneWidth() + 6) {
        lane = columnsOf[Math.floor((x - 4) / laneWidth())] ?? -1;
        if (lane >= 0) {
          const r = Math.min(rows.length - 1, Math.floor((y + view.scrollTop) / ROW));
          const share = (y + view.scrollTop) / ROW - r;
          const p = rows[r] + Math.floor(share * (rowEnd(r) - rows[r]));
          n = touching(doc.lanes[lane], p, p + 1)[0] ?? -1;
        }
      } else if (event.target.dataset?.chunk) n = Number(event.target.dataset.chunk);
      tip.hidden = n < 0;
      if (n < 0) return;
      tip.textContent = describe(lane, n);
      tip.style.left = `${Math.min(x + 14, Math.max(0, box.width - 290))}px`;
      tip.style.top = `${y + 18 > box.height - 60 ? y - 60 : y + 18}px`;
    });
    body.addEventListener("pointerleave", () => { tip.hidden = true; });
    body.addEventListener("click", (event) => {
      const box = body.getBoundingClientRect();
      const x = event.clientX - box.left;
      if (x < columnsOf.length * laneWidth() + 6) {
        const lane = columnsOf[Math.floor((x - 4) / laneWidth())] ?? -1;
        if (lane >= 0 && lane !== state.active) choose(lane);
      } else if (event.target.dataset?.chunk && !String(getSelection())) select(Number(event.target.dataset.chunk));
    });
    mapCanvas.addEventListener("pointerdown", (event) => {
      const follow = (e) => {
        const box = mapCanvas.getBoundingClientRect();
        reveal(Math.max(0, Math.min(doc.text.length - 1, Math.floor(((e.clientX - box.left - GUTTER) / (box.width - GUTTER)) * doc.text.length))));
      };
      follow(event);
      mapCanvas.setPointerCapture(event.pointerId);
      mapCanvas.onpointermove = follow;
      mapCanvas.onpointerup = () => { mapCanvas.onpointermove = null; };
    });

    const repaint = () => { if (node.isConnected) { redraw(); drawMap(); } };
    faircut.themed.push(repaint);
    let seen = 0;
    new ResizeObserver(() => {
      if (body.clientWidth === seen || !body.clientWidth) return;
      const first = !seen;
      seen = body.clientWidth;
      layout();
      drawMap();
      if (first && options.at !== undefined && options.at !== null) jump(options.at, options.end);
    }).observe(body);

    /* A printed page shows the whole text where it is not a book; else what is in view. */
    let printed = null;
    addEventListener("beforeprint", () => {
      if (!node.isConnected || rows.length > 4000) return;
      printed = true;
      for (let r = 0; r < rows.length; r++) if (!nodes.has(r)) { const n = makeRow(r); nodes.set(r, n); sizer.append(n); }
      body.classList.add("printed");
    });
    addEventListener("afterprint", () => { if (printed) { printed = null; body.classList.remove("printed"); redraw(); } });

    function take(fresh) {
      doc = fresh;
      for (const lane of doc.lanes) {
        let far = 0;
        lane.reach = lane.ends.map((e) => (far = Math.max(far, e)));  // how far the chunks up to this one reach
      }
      blockStarts = doc.blocks.map((b) => b.start);
      radios.forEach((r, i) => {
        const l = doc.lanes[i];
        r.count.textContent = l.count ? `${faircut.whole(l.count)} \u00d7 ${faircut.whole(median(l.tokens))}t` : "none";
        r.count.title = "chunks \u00d7 median tokens";
      });
    }

    take(doc);
    setColumns();
    choose(state.active, true);
    return {
      node,
      jump,
      choose: (lane) => choose(lane, true),
      select(lane, n) {
        choose(lane, true);
        reveal(doc.lanes[lane].starts[n]);
        select(n);
      },
      update(fresh, names) {
        (names || []).forEach((label, i) => {
          labels[i] = label;
          radios[i].name.replaceChildren(faircut.outside(label));
        });
        take(fresh);
        layout();
        choose(state.active, true);
      },
    };
  };
})();
