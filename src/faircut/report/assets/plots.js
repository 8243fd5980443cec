/* Figures: points from Python in, drawings out. The plotting library is opened when the first figure comes into view.
   Colours follow the theme; letters and marks say the same as colours. */
"use strict";
(function () {
  const { el } = faircut;
  const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "cross", "x", "triangle-down", "star", "hexagon", "pentagon"];
  const DASHES = ["solid", "dash", "dot", "dashdot"];
  let library = null;

  /* The library, run as an inline script that the page's policy knows by its hash. */
  function plotly() {
    library ??= faircut.bytes("plotly").then((text) => {
      const script = document.createElement("script");
      script.textContent = text;
      document.head.append(script);
      return window.Plotly;
    });
    return library;
  }

  const fade = (colour, share) => {
    const [r, g, b] = colour.match(/[0-9a-f]{2}/gi).map((h) => parseInt(h, 16));
    return `rgba(${r},${g},${b},${share})`;
  };

  function style(i) {
    return { color: faircut.colour(i), symbol: SYMBOLS[i % SYMBOLS.length], dash: DASHES[Math.floor(i / 10) % DASHES.length] };
  }

  const axis = (more) => ({
    gridcolor: faircut.tint("line"), zerolinecolor: faircut.tint("line"), linecolor: faircut.tint("line"),
    tickfont: { size: 12 }, automargin: true, fixedrange: true, ...more,
  });

  const base = (height, more) => ({
    height, margin: { l: 8, r: 12, t: 8, b: 40, pad: 2 }, showlegend: false, hovermode: "closest",
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: getComputedStyle(document.body).fontFamily, size: 12.5, color: faircut.tint("ink") },
    hoverlabel: { bgcolor: faircut.tint("paper"), bordercolor: faircut.tint("line"), font: { color: faircut.tint("ink"), size: 12.5 }, align: "left" },
    ...more,
  });

  /* What plotly would read as markup is shown as it is. */
  const plain = (text) => faircut.visible(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const short = (text) => { const t = faircut.visible(text); return plain(t.length > 30 ? `${t.slice(0, 28)}\u2026` : t); };

  /* Names on an axis: the letter always, the label where there is room. */
  const names = (rows, i, width) => (width < 520 ? faircut.letter(i) : `${short(rows[i].label)}  ${faircut.letter(i)}`);
  const hover = "%{text}<extra></extra>";
  const f3 = (v) => (v === null || v === undefined ? "" : v.toFixed(3));
  const f3s = (v) => (v > 0 ? "+" : "") + f3(v);

  /* ---------------------------------------------------------- kinds */

  const kinds = {
    forest({ points, band }, rows, shown, width) {
      const all = points.filter((p) => shown.has(p.row)).sort((a, b) => a.mean - b.mean);
      const y = all.map((_, k) => k);
      const line = (k, low, high, thick) => ({
        x: [low, high], y: [k, k], mode: "lines", hoverinfo: "skip", line: { width: thick, color: faircut.colour(all[k].row) },
      });
      const traces = all.flatMap((p, k) => [line(k, p.low, p.high, 1.6), line(k, p.low90, p.high90, 5)]);
      traces.push({
        x: all.map((p) => p.mean), y, mode: "markers", hovertemplate: hover,
        text: all.map((p) => `<b>${plain(rows[p.row].label)}</b><br>${f3s(p.mean)} (95 %: ${f3s(p.low)} to ${f3s(p.high)})<br>${p.verdict}`),
        marker: { size: 10, color: all.map((p) => faircut.colour(p.row)), symbol: all.map((p) => SYMBOLS[p.row % 10]), line: { color: faircut.tint("paper"), width: 1.5 } },
      });
      return [traces, base(60 + 34 * all.length, {
        xaxis: axis({ title: { text: "difference to the baseline" }, zeroline: true, zerolinecolor: faircut.tint("ink"), tickformat: "+.2f" }),
        yaxis: axis({ tickvals: y, ticktext: all.map((p) => names(rows, p.row, width)), range: [-0.7, all.length - 0.3], showgrid: false, zeroline: false }),
        shapes: [{ type: "rect", x0: -band, x1: band, yref: "paper", y0: 0, y1: 1, fillcolor: fade(faircut.tint("muted"), 0.16), line: { width: 0 }, layer: "below" }],
      })];
    },

    curves({ curves, x, y, log, bands }, rows, shown) {
      const drawn = curves.filter((c) => shown.has(c.row));
      const traces = [];
      for (const c of drawn) {
        const s = style(c.row);
        if (bands) traces.push({
          x: [...c.points.map((p) => p.x), ...c.points.map((p) => p.x).reverse()],
          y: [...c.points.map((p) => p.high), ...c.points.map((p) => p.low).reverse()],
          fill: "toself", fillcolor: fade(s.color, drawn.length > 4 ? 0.07 : 0.13), line: { width: 0 }, hoverinfo: "skip", mode: "lines",
        });
      }
      for (const c of drawn) traces.push(curveTrace(c, rows));
      const ticks = [...new Set(drawn.flatMap((c) => c.points.map((p) => p.x)))];
      return [traces, base(340, {
        xaxis: axis({ title: { text: x }, type: log ? "log" : "linear", tickvals: ticks, ticktext: ticks.map(faircut.whole) }),
        yaxis: axis({ title: { text: y }, rangemode: "tozero", tickformat: ".1f" }),
        annotations: ends(drawn, log), margin: { l: 8, r: 26, t: 8, b: 44 },
      })];
    },

    hits({ curves, last, tokens }, rows, shown, width) {
      const drawn = curves.filter((c) => shown.has(c.row));
      const at = drawn.map((c) => ({ row: c.row, ...c.points.find((p) => p.x === last) })).filter((p) => p.mean !== undefined).sort((a, b) => a.mean - b.mean);
      const ticks = [...new Set(drawn.flatMap((c) => c.points.map((p) => p.x)))];
      const narrow = width < 620;
      const bars = {
        type: "bar", orientation: "h", x: at.map((p) => p.mean), y: at.map((_, k) => k), xaxis: "x2", yaxis: "y2", hovertemplate: hover,
        text: at.map((p) => `<b>${plain(rows[p.row].label)}</b><br>hit@${last} ${f3(p.mean)} (${f3(p.low)} to ${f3(p.high)})<br>${tokens[p.row] ? faircut.whole(tokens[p.row]) + " tokens a question" : ""}`),
        textposition: "none",
        marker: { color: at.map((p) => fade(faircut.colour(p.row), 0.75)), line: { color: at.map((p) => faircut.colour(p.row)), width: 1 } },
        error_x: { type: "data", symmetric: false, array: at.map((p) => p.high - p.mean), arrayminus: at.map((p) => p.mean - p.low), color: faircut.tint("ink"), thickness: 1.2, width: 3 },
      };
      const spent = at.map((p, k) => ({
        xref: "x2", yref: "y2", x: 0.012, y: k, text: tokens[p.row] ? `${faircut.whole(tokens[p.row])}t` : "", showarrow: false, xanchor: "left", font: { size: 11, color: faircut.tint("ink") },
      }));
      const barHeight = 40 + 26 * at.length;
      return [[...drawn.map((c) => curveTrace(c, rows)), bars], base(narrow ? 300 + barHeight : Math.max(320, barHeight), {
        xaxis: axis({ title: { text: "k chunks" }, tickvals: ticks, domain: narrow ? [0, 1] : [0, 0.46], anchor: "y" }),
        yaxis: axis({ title: { text: "hit rate" }, rangemode: "tozero", tickformat: ".1f", domain: narrow ? [barHeight / (300 + barHeight) + 0.09, 1] : [0, 1], anchor: "x" }),
        xaxis2: axis({ title: { text: `hit@${last}; in the bars: tokens spent` }, range: [0, 1], domain: narrow ? [0, 1] : [0.62, 1], anchor: "y2" }),
        yaxis2: axis({ tickvals: at.map((_, k) => k), ticktext: at.map((p) => names(rows, p.row, narrow ? width : width - 420)), domain: narrow ? [0, barHeight / (300 + barHeight) - 0.06] : [0, 1], anchor: "x2", showgrid: false, range: [-0.6, at.length - 0.4] }),
        annotations: [...ends(drawn, false), ...spent], bargap: 0.35,
      })];
    },

    controls({ points }, rows, shown, width) {
      const all = points.filter((p) => shown.has(p.row)).sort((a, b) => a.score - b.score);
      const traces = all.map((p, k) => ({ x: [p.control, p.score], y: [k, k], mode: "lines", hoverinfo: "skip", line: { color: faircut.colour(p.row), width: 2.5 } }));
      const dots = (key, open, what) => ({
        x: all.map((p) => p[key]), y: all.map((_, k) => k), mode: "markers", hovertemplate: hover,
        text: all.map((p) => `<b>${plain(rows[p.row].label)}</b><br>${what} ${f3(p[key])}<br>${p.verdict}`),
        marker: { size: 11, symbol: open ? "circle-open" : "circle", color: all.map((p) => faircut.colour(p.row)), line: { width: 2, color: all.map((p) => faircut.colour(p.row)) } },
      });
      traces.push(dots("control", true, "same sizes, shuffled:"), dots("score", false, "own boundaries:"));
      return [traces, base(70 + 30 * all.length, {
        xaxis: axis({ title: { text: "score: filled, own boundaries; open, same sizes shuffled" } }),
        yaxis: axis({ tickvals: all.map((_, k) => k), ticktext: all.map((p) => names(rows, p.row, width)), showgrid: false, range: [-0.6, all.length - 0.4] }),
      })];
    },

    sizes({ edges, ridges }, rows, shown, width) {
      const all = ridges.filter((r) => shown.has(r.row));
      const n = Math.max(1, all.length), most = Math.max(...all.flatMap((r) => r.shares));
      const traces = [], layout = base(46 + 44 * n, { bargap: 0.06, annotations: [] });
      const middle = edges.slice(0, -1).map((e, i) => (e + edges[i + 1]) / 2);
      all.forEach((r, k) => {
        const base0 = n - 1 - k;
        traces.push({
          type: "bar", x: middle, y: r.shares.map((s) => (s / most) * 0.86), base: r.shares.map(() => base0), hovertemplate: hover, textposition: "none",
          text: r.shares.map((s, i) => `<b>${plain(rows[r.row].label)}</b><br>${Math.round(edges[i])} to ${Math.round(edges[i + 1])} tokens: ${(100 * s).toFixed(1)} %`),
          marker: { color: fade(faircut.colour(r.row), 0.8) },
        });
        traces.push({ x: [r.median, r.median], y: [base0, base0 + 0.9], mode: "lines", line: { color: faircut.tint("ink"), width: 1.4 }, hovertemplate: hover, text: [`median ${faircut.whole(r.median)}`, `median ${faircut.whole(r.median)}`] });
      });
      layout.barmode = "overlay";
      layout.xaxis = axis({ title: { text: "tokens in a chunk" }, showgrid: false, zeroline: false });
      layout.yaxis = axis({ tickvals: all.map((_, k) => n - 1 - k + 0.3), ticktext: all.map((r) => names(rows, r.row, width)), range: [-0.05, n], zeroline: false, showgrid: false });
      return [traces, layout];
    },

    times({ bars }, rows, shown, width) {
      const all = bars.filter((b) => shown.has(b.row)).reverse();
      const y = all.map((_, k) => k);
      const bar = (key, pattern) => ({
        type: "bar", orientation: "h", x: all.map((b) => b[key] || 0), y, hovertemplate: hover, textposition: "none",
        text: all.map((b) => `<b>${plain(rows[b.row].label)}</b><br>${key}: ${b[key] === null ? "unknown" : `${b[key].toFixed(2)} s`}`),
        marker: {
          color: all.map((b) => faircut.colour(b.row)), line: { width: 0 },
          pattern: pattern ? { shape: "/", size: 6, solidity: 0.3, bgcolor: all.map((b) => fade(faircut.colour(b.row), 0.3)), fgcolor: all.map((b) => faircut.colour(b.row)) } : undefined,
        },
      });
      return [[bar("cutting", false), bar("embedding", true)], base(60 + 28 * all.length, {
        barmode: "stack", bargap: 0.4,
        xaxis: axis({ title: { text: "seconds: solid, cutting; hatched, embedding" }, rangemode: "tozero" }),
        yaxis: axis({ tickvals: y, ticktext: all.map((b) => names(rows, b.row, width)), showgrid: false, range: [-0.6, all.length - 0.4] }),
      })];
    },

    frontier({ points }, rows, shown) {
      const all = points.filter((p) => shown.has(p.row));
      const best = all.filter((p) => p.efficient).sort((a, b) => a.cost - b.cost);
      const traces = [
        { x: best.map((p) => p.cost), y: best.map((p) => p.score), mode: "lines", line: { color: faircut.tint("muted"), width: 1.6, dash: "dot", shape: "hv" }, hoverinfo: "skip" },
        {
          x: all.map((p) => p.cost), y: all.map((p) => p.score), mode: "markers+text", hovertemplate: "%{customdata}<extra></extra>",
          customdata: all.map((p) => `<b>${plain(p.label)}</b><br>score ${f3(p.score)}, ${p.cost.toFixed(2)} tokens embedded per token`),
          text: all.map((p) => faircut.letter(p.row)), textposition: "top right", textfont: { size: 12, color: faircut.tint("ink") },
          marker: { size: all.map((p) => (p.efficient ? 13 : 9)), color: all.map((p) => faircut.colour(p.row)), symbol: all.map((p) => SYMBOLS[p.row % 10]), line: { width: all.map((p) => (p.efficient ? 1.5 : 0)), color: faircut.tint("ink") } },
        },
      ];
      return [traces, base(320, {
        xaxis: axis({ title: { text: "tokens embedded per token of the documents" }, rangemode: "tozero" }),
        yaxis: axis({ title: { text: "score" }, tickformat: ".2f" }), margin: { l: 8, r: 26, t: 14, b: 44 },
      })];
    },

    heat({ questions, rows: order }, rows, shown, width, data) {
      const kept = order.filter((r) => shown.has(r)).reverse();
      const z = kept.map((r) => questions.map((q) => data.hits[r][q]));
      const text = kept.map((r) => questions.map((q) => {
        const cause = data.causes[r]?.[q];
        return `<b>${plain(rows[r].label)}</b>: ${data.hits[r][q] ? "hit" : `miss${cause ? `, ${plain(cause)}` : ""}`}, score ${f3(data.scores[r][q])}<br>${short(data.questions[q].text)}`;
      }));
      const miss = faircut.tint("miss"), hit = faircut.tint("hit");
      const traces = [{
        type: "heatmap", z, text, hovertemplate: hover, zmin: 0, zmax: 1, colorscale: [[0, miss], [1, hit]], showscale: false,
        xgap: questions.length < 150 ? 1 : 0, ygap: 2,
      }];
      return [traces, base(56 + 26 * kept.length, {
        xaxis: axis({ title: { text: `${faircut.plural(questions.length, "question")}, alike ones side by side: dark, hit; light, miss` }, showticklabels: false, ticks: "", showgrid: false, zeroline: false }),
        yaxis: axis({ tickvals: kept.map((_, k) => k), ticktext: kept.map((r) => names(rows, r, width)), showgrid: false, zeroline: false }),
      }), (event) => { location.hash = faircut.link("question", data.questions[questions[event.points[0].x]].id, { set: data.set || null }); }];
    },
  };

  function curveTrace(c, rows) {
    const s = style(c.row);
    return {
      x: c.points.map((p) => p.x), y: c.points.map((p) => p.mean), mode: "lines+markers", hovertemplate: hover,
      text: c.points.map((p) => `<b>${plain(rows[c.row].label)}</b><br>${f3(p.mean)} (${f3(p.low)} to ${f3(p.high)})`),
      line: { color: s.color, width: 2, dash: s.dash }, marker: { color: s.color, symbol: s.symbol, size: 7 },
    };
  }

  /* Letters at the ends of curves, moved apart where they would lie on one another. */
  function ends(curves, log) {
    const last = curves.map((c) => ({ row: c.row, ...c.points[c.points.length - 1] })).sort((a, b) => a.mean - b.mean);
    let before = -1;
    return last.map((p) => {
      const y = Math.max(p.mean, before + 0.045);
      before = y;
      return { xref: "x", yref: "y", x: log ? Math.log10(p.x) : p.x, y, text: `<b>${faircut.letter(p.row)}</b>`, showarrow: false, xanchor: "left", xshift: 8, font: { size: 12, color: faircut.colour(p.row) } };
    });
  }

  /* ---------------------------------------------------------- drawing */

  const drawn = new Set();

  async function draw(place) {
    const set = Number(place.dataset.set);
    const [library, figures, data] = await Promise.all([plotly(), faircut.part(`figures-${set}`), faircut.part(`set-${set}`)]);
    const figure = figures[place.dataset.figure];
    const width = place.clientWidth;
    if (!width) return;
    const shown = new Set(data.rows.map((_, i) => i).filter((i) => !hidden.get(set)?.has(i)));
    const [traces, layout, onClick] = kinds[figure.kind](figure, data.rows, shown, width, { ...data, set });
    layout.width = width;
    place.setAttribute("role", "img");
    place.setAttribute("aria-label", `Figure: ${figure.title} The numbers are in the table below it.`);
    await library.react(place, traces, layout, { displayModeBar: false, responsive: false, showTips: false, doubleClick: false });
    place.style.setProperty("--ratio", `${width} / ${layout.height}`);  // on paper it is as wide as its column
    place.querySelectorAll(".main-svg").forEach((svg) => svg.setAttribute("viewBox", `0 0 ${width} ${layout.height}`));
    if (figure.kind === "heat") place.setAttribute("aria-label", `Figure: ${figure.title} The same is on the page Questions.`);
    if (!drawn.has(place) && onClick) place.on("plotly_click", onClick);
    drawn.add(place);
    place.dataset.drawn = "";
  }

  const hidden = new Map();
  const again = () => drawn.forEach((place) => { if (place.clientWidth) draw(place); });

  faircut.drawFigures = function (section) {
    const watch = new IntersectionObserver((entries) => entries.forEach((e) => {
      if (e.isIntersecting) { watch.unobserve(e.target); draw(e.target); }
    }), { rootMargin: "300px" });
    section.querySelectorAll("[data-figure]").forEach((place) => { if (!drawn.has(place)) watch.observe(place); });
    section.querySelectorAll("[data-legend]").forEach((legend) => {
      if (legend.dataset.ready) return;
      legend.dataset.ready = "yes";
      const set = Number(legend.dataset.legend);
      hidden.set(set, new Set());
      legend.querySelectorAll("button").forEach((button) => button.addEventListener("click", () => {
        const row = Number(button.dataset.row), gone = hidden.get(set);
        if (gone.has(row)) gone.delete(row); else if (gone.size < legend.querySelectorAll("button").length - 1) gone.add(row);
        button.setAttribute("aria-pressed", String(!gone.has(row)));
        again();
      }));
    });
  };

  faircut.themed.push(again);
  let wide = innerWidth, waiting = 0;
  addEventListener("resize", () => {
    if (innerWidth === wide) return;
    wide = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(again, 120);
  });
  addEventListener("beforeprint", () => document.querySelectorAll(".page:not([hidden]) [data-figure]").forEach((place) => { if (!drawn.has(place)) draw(place); }));
})();
