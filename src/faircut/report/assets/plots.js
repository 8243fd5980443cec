/* Figures: points from Python in, drawings out. The plotting library is opened when the first figure comes into view.
   Colours follow the theme; letters and marks say the same as colours. */
"use strict";
(function () {
  const { el } = faircut;
  const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "cross", "x", "triangle-down", "star", "hexagon", "pentagon"];
  const DASHES = ["solid", "dot", "dashdot", "longdash"];  // controls are dashed
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
    title: more.title && { font: { size: 12.5 }, standoff: 8, ...more.title },
  });

  /* A title of several lines needs a taller figure: the library would lay it over the ticks of a low one. */
  const below = (more) => 18 * ((more.xaxis?.title?.text || "").split("<br>").length - 1);

  const base = (height, more) => ({
    margin: { l: 8, r: 12, t: 8, b: 40, pad: 2 }, showlegend: false, hovermode: "closest",
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: getComputedStyle(document.body).fontFamily, size: 12.5, color: faircut.tint("ink") },
    hoverlabel: { bgcolor: faircut.tint("paper"), bordercolor: faircut.tint("line"), font: { color: faircut.tint("ink"), size: 12.5 }, align: "left" },
    ...more, height: height + below(more),
  });

  /* What plotly would read as markup is shown as it is. */
  const plain = (text) => faircut.visible(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

  /* Names on an axis: the letter always, the label as far as there is room. */
  const short = (text, most = 30) => { const t = faircut.visible(text); return plain(t.length > most ? `${t.slice(0, most - 2)}\u2026` : t); };
  const names = (rows, i, width) => `${short(rows[i].label, width < 520 ? 13 : 30)}  ${faircut.letter(i)}`;

  /* An axis title, broken where it would be wider than the figure. */
  function title(text, pixels) {
    const lines = [""];
    for (const word of plain(text).split(" ")) {
      const last = lines[lines.length - 1];
      if (last && (last.length + word.length) * 6.9 > pixels) lines.push(word);
      else lines[lines.length - 1] = last ? `${last} ${word}` : word;
    }
    return { text: lines.join("<br>") };
  }

  /* A word at the right end of a row of a figure. */
  const atRight = (y, text, more) => ({ xref: "paper", x: 1, xanchor: "left", xshift: 6, yref: "y", y, text, showarrow: false, font: { size: 11.5, color: faircut.tint("ink") }, ...more });
  const MARKS = { better: ["\u25b2", "good"], worse: ["\u25bc", "bad"], equivalent: ["=", "ink"], "no measured difference": ["\u25cb", "muted"] };
  const verdictAt = (y, verdict) => atRight(y, (MARKS[verdict] || ["", ""])[0], { font: { size: 13, color: faircut.tint((MARKS[verdict] || ["", "ink"])[1]) } });
  const hover = "%{text}<extra></extra>";
  const f3 = (v) => (v === null || v === undefined ? "" : v.toFixed(3));
  const f3s = (v) => (v > 0 ? "+" : "") + f3(v);

  /* ---------------------------------------------------------- kinds */

  const kinds = {
    forest({ points, band, measure }, rows, shown, width) {
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
      return [traces, base(70 + 34 * all.length, {
        xaxis: axis({ title: title(`difference in ${measure} (right of 0: better)`, width - 150), range: padded(all.flatMap((p) => [p.low, p.high, -band, band])), zeroline: true, zerolinecolor: faircut.tint("ink"), tickformat: "+.3~f" }),
        yaxis: axis({ tickvals: y, ticktext: all.map((p) => names(rows, p.row, width)), range: [-0.7, all.length - 0.3], showgrid: false, zeroline: false }),
        annotations: all.map((p, k) => verdictAt(k, p.verdict)), margin: { l: 8, r: 30, t: 8, b: 40, pad: 2 },
        shapes: [{ type: "rect", x0: -band, x1: band, yref: "paper", y0: 0, y1: 1, fillcolor: fade(faircut.tint("muted"), 0.16), line: { width: 0 }, layer: "below" }],
      })];
    },

    curves({ curves, x, y, log, bands }, rows, shown, width) {
      const drawn = curves.filter((c) => shown.has(c.row));
      const traces = [];
      for (const c of drawn) {
        const s = style(c.row);
        if (bands && (drawn.length < 5 || c === drawn[0] || rows[c.row].baseline)) traces.push({
          x: [...c.points.map((p) => p.x), ...c.points.map((p) => p.x).reverse()],
          y: [...c.points.map((p) => p.high), ...c.points.map((p) => p.low).reverse()],
          fill: "toself", fillcolor: fade(s.color, 0.14), line: { width: 0 }, hoverinfo: "skip", mode: "lines",
        });
      }
      for (const c of drawn) traces.push(curveTrace(c, rows));
      const ticks = [...new Set(drawn.flatMap((c) => c.points.map((p) => p.x)))];
      const end = ends(drawn, rows, width, log, 360 - 60);
      return [traces, base(360, {
        xaxis: axis({ title: title(x, width - 100), type: log ? "log" : "linear", range: span(ticks, log), tickvals: ticks, ticktext: ticks.map(faircut.whole) }),
        yaxis: axis({ title: { text: y }, range: end.range, tickformat: ".1f" }),
        annotations: end.labels, margin: { l: 8, r: end.room, t: 8, b: 44 },
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
      const barHeight = 40 + 26 * at.length, all = narrow ? 330 + barHeight : Math.max(340, barHeight);
      const upper = narrow ? barHeight / all + 0.07 : 0;
      const end = ends(drawn, rows, narrow ? 0 : width, false, (1 - upper) * all - 60);
      const roomShare = end.room / width;
      return [[...drawn.map((c) => curveTrace(c, rows)), bars], base(all, {
        xaxis: axis({ title: { text: "first k chunks" }, range: span(ticks, false), tickvals: ticks, domain: narrow ? [0, 1 - roomShare] : [0, 0.5 - roomShare], anchor: "y" }),
        yaxis: axis({ title: { text: "hit rate (share of questions)" }, range: end.range, tickformat: ".1f", domain: [upper, 1], anchor: "x" }),
        xaxis2: axis({ title: title(`hit rate at k = ${last}; in the bars: tokens spent`, narrow ? width - 120 : width * 0.38), range: [0, 1], domain: narrow ? [0, 1] : [0.64, 1], anchor: "y2" }),
        yaxis2: axis({ tickvals: at.map((_, k) => k), ticktext: at.map((p) => names(rows, p.row, narrow ? width : width - 420)), domain: narrow ? [0, barHeight / all - 0.05] : [0, 1], anchor: "x2", showgrid: false, range: [-0.6, at.length - 0.4] }),
        annotations: [...end.labels, ...spent], bargap: 0.35,
      })];
    },

    controls({ points, measure }, rows, shown, width) {
      const all = points.filter((p) => shown.has(p.row)).sort((a, b) => a.score - b.score);
      const traces = all.map((p, k) => ({ x: [p.control, p.score], y: [k, k], mode: "lines", hoverinfo: "skip", line: { color: faircut.colour(p.row), width: 2.5 } }));
      const dots = (key, open, what) => ({
        x: all.map((p) => p[key]), y: all.map((_, k) => k), mode: "markers", hovertemplate: hover,
        text: all.map((p) => `<b>${plain(rows[p.row].label)}</b><br>${what} ${f3(p[key])}<br>${p.verdict}`),
        marker: { size: 11, symbol: open ? "circle-open" : "circle", color: all.map((p) => faircut.colour(p.row)), line: { width: 2, color: all.map((p) => faircut.colour(p.row)) } },
      });
      traces.push(dots("control", true, "same sizes, shuffled:"), dots("score", false, "own boundaries:"));
      return [traces, base(70 + 30 * all.length, {
        xaxis: axis({ title: title(measure, width - 150) }), annotations: all.map((p, k) => verdictAt(k, p.verdict)), margin: { l: 8, r: 30, t: 8, b: 40, pad: 2 },
        yaxis: axis({ tickvals: all.map((_, k) => k), ticktext: all.map((p) => names(rows, p.row, width)), showgrid: false, range: [-0.6, all.length - 0.4] }),
      })];
    },

    sizes({ edges, ridges }, rows, shown, width) {
      const all = ridges.filter((r) => shown.has(r.row));
      const n = Math.max(1, all.length), most = Math.max(...all.flatMap((r) => r.shares));
      const traces = [], layout = base(46 + (n > 8 ? 32 : 44) * n, { bargap: 0.06, annotations: all.map((r, k) => atRight(n - 1 - k + 0.3, faircut.whole(r.median))), margin: { l: 8, r: 40, t: 8, b: 40, pad: 2 } });
      const middle = edges.slice(0, -1).map((e, i) => (e + edges[i + 1]) / 2);
      all.forEach((r, k) => {
        const base0 = n - 1 - k;
        traces.push({
          type: "bar", x: middle, y: r.shares.map((s) => (s / most) * 0.86), base: r.shares.map(() => base0), hovertemplate: hover, textposition: "none",
          text: r.shares.map((s, i) => `<b>${plain(rows[r.row].label)}</b><br>${Math.round(edges[i])} to ${Math.round(edges[i + 1])} tokens: ${faircut.percent(s, 1)}`),
          marker: { color: fade(faircut.colour(r.row), 0.8) },
        });
        traces.push({ x: [r.median, r.median], y: [base0, base0 + 0.9], mode: "lines", line: { color: faircut.tint("ink"), width: 1.4 }, hovertemplate: hover, text: [`median ${faircut.whole(r.median)}`, `median ${faircut.whole(r.median)}`] });
      });
      layout.barmode = "overlay";
      layout.xaxis = axis({ title: { text: "tokens in a chunk" }, showgrid: false, zeroline: false });
      layout.yaxis = axis({ tickvals: all.map((_, k) => n - 1 - k + 0.3), ticktext: all.map((r) => names(rows, r.row, width)), range: [-0.05, n], zeroline: false, showgrid: false });
      return [traces, layout];
    },

    times({ bars, asked }, rows, shown, width) {
      const all = bars.filter((b) => shown.has(b.row)).reverse();
      const y = all.map((_, k) => k), total = (b) => (b.cutting || 0) + (b.answers || 0) + (b.embedding || 0);
      const least = (b) => (b.asks && b.answers === null ? "\u2265 " : "");
      const bar = (key, pattern) => ({
        type: "bar", orientation: "h", x: all.map((b) => b[key] || 0), y, hovertemplate: hover, textposition: "none",
        text: all.map((b) => `<b>${plain(rows[b.row].label)}</b><br>${key}: ${b[key] === null ? "unknown" : `${b[key].toFixed(2)} s`}`),
        marker: {
          color: all.map((b) => faircut.colour(b.row)), line: { width: 0 },
          pattern: pattern ? { shape: pattern, size: 6, solidity: 0.3, bgcolor: all.map((b) => fade(faircut.colour(b.row), 0.3)), fgcolor: all.map((b) => faircut.colour(b.row)) } : undefined,
        },
      });
      return [[bar("cutting", ""), ...(asked ? [bar("answers", ".")] : []), bar("embedding", "/")], base(60 + 28 * all.length, {
        barmode: "stack", bargap: 0.4,
        xaxis: axis({ title: title(`seconds: solid, cutting; ${asked ? "dotted, waiting for a language model; " : ""}hatched, embedding`, width - 150), rangemode: "tozero" }),
        annotations: all.map((b, k) => atRight(k, `${least(b)}${total(b) < 10 ? total(b).toFixed(1) : faircut.whole(total(b))} s`)), margin: { l: 8, r: 56, t: 8, b: 40, pad: 2 },
        yaxis: axis({ tickvals: y, ticktext: all.map((b) => names(rows, b.row, width)), showgrid: false, range: [-0.6, all.length - 0.4] }),
      })];
    },

    frontier({ points, measure, x, money }, rows, shown, width) {
      const all = points.filter((p) => shown.has(p.row));
      const best = all.filter((p) => p.efficient).sort((a, b) => a.cost - b.cost);
      const traces = [
        { x: best.map((p) => p.cost), y: best.map((p) => p.score), mode: "lines", line: { color: faircut.tint("muted"), width: 1.6, dash: "dot", shape: "hv" }, hoverinfo: "skip" },
        {
          x: all.map((p) => p.cost), y: all.map((p) => p.score), mode: "markers", hovertemplate: "%{customdata}<extra></extra>",
          customdata: all.map((p) => `<b>${plain(p.label)}</b><br>score ${f3(p.score)}, ${p.said}`),
          marker: { size: all.map((p) => (p.efficient ? 13 : 9)), color: all.map((p) => faircut.colour(p.row)), symbol: all.map((p) => SYMBOLS[p.row % 10]), line: { width: all.map((p) => (p.efficient ? 1.5 : 0)), color: faircut.tint("ink") } },
        },
      ];
      const [most, low, high] = [Math.max(...all.map((p) => p.cost)) * 1.12, Math.min(...all.map((p) => p.score)), Math.max(...all.map((p) => p.score))];
      const range = [low - 0.12 * (high - low || 0.1), high + 0.12 * (high - low || 0.1)];
      return [traces, base(340, {
        xaxis: axis({ title: title(x, width - 80), range: [0, most], tickprefix: money ? "$" : "" }),
        yaxis: axis({ title: { text: measure }, tickformat: ".2f", range }), margin: { l: 8, r: 26, t: 14, b: 44 },
        annotations: apart(all, (p) => ((width - 96) * p.cost) / most, (p) => (282 * (range[1] - p.score)) / (range[1] - range[0]), (p) => (width < 520 ? faircut.letter(p.row) : `${faircut.letter(p.row)} ${short(p.label, 18)}`), width - 80)
          .map(({ p, dx, dy, text }) => ({ x: p.cost, y: p.score, text, showarrow: false, xanchor: dx > 0 ? "left" : "right", xshift: dx, yshift: -dy, font: { size: 11.5, color: faircut.tint("ink") } })),
      })];
    },

    causes({ causes, bars }, rows, shown, width) {
      const all = bars.filter((b) => shown.has(b.row)).reverse(), y = all.map((_, k) => k);
      const sums = all.map((b) => b.counts.reduce((sum, n) => sum + n, 0)), most = Math.max(1, ...sums);
      const patterns = ["", "/", "x", ".", "\\", "-", "+", "|"];
      const traces = causes.map((cause, j) => ({
        type: "bar", orientation: "h", name: plain(cause), showlegend: true, x: all.map((b) => b.counts[j]), y, hovertemplate: "%{customdata}<extra></extra>",
        customdata: all.map((b) => `<b>${plain(rows[b.row].label)}</b><br>${plain(cause)}: ${faircut.plural(b.counts[j], "question")}`),
        text: all.map((b) => ((b.counts[j] / most) * (width - 200) > 16 ? `<b>${b.counts[j]}</b>` : "")), textposition: "inside", insidetextanchor: "middle", textangle: 0, constraintext: "none", textfont: { size: 11, color: faircut.tint("ink") },
        marker: { color: fade(faircut.colour(j), 0.35), line: { width: 1, color: faircut.colour(j) }, pattern: patterns[j % 8] ? { shape: patterns[j % 8], size: 7, solidity: 0.18, bgcolor: fade(faircut.colour(j), 0.3), fgcolor: faircut.colour(j) } : undefined },
      }));
      return [traces, base(78 + 28 * all.length + (width < 620 ? 19 * causes.length : 22), {
        barmode: "stack", bargap: 0.35, showlegend: true, legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", xanchor: "left", traceorder: "normal", itemclick: false, itemdoubleclick: false, font: { size: 11.5 } },
        xaxis: axis({ title: title("questions missed", width - 150), rangemode: "tozero" }), margin: { l: 8, r: 34, t: 8, b: 40, pad: 2 },
        yaxis: axis({ tickvals: y, ticktext: all.map((b) => names(rows, b.row, width)), showgrid: false, range: [-0.6, all.length - 0.4] }),
        annotations: all.map((b, k) => atRight(k, String(sums[k]))),
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
        xgap: (width - 190) / questions.length > 5 ? 1 : 0, ygap: 2,
      }];
      return [traces, base(56 + 26 * kept.length, {
        xaxis: axis({ title: title(`${faircut.plural(questions.length, "question")}, alike ones side by side`, width - 150), showticklabels: false, ticks: "", showgrid: false, zeroline: false }),
        yaxis: axis({ tickvals: kept.map((_, k) => k), ticktext: kept.map((r) => names(rows, r, width)), ticks: "", showgrid: false, zeroline: false }),
        annotations: kept.map((r, k) => atRight(k, String(data.hits[r].reduce((sum, hit) => sum + hit, 0)))), margin: { l: 8, r: 40, t: 8, b: 40, pad: 2 },
      }), (event) => { location.hash = faircut.link("question", data.questions[questions[event.points[0].x]].id, { set: data.set || null }); }];
    },
  };

  function curveTrace(c, rows) {
    const s = style(c.row);
    return {
      x: c.points.map((p) => p.x), y: c.points.map((p) => p.mean), mode: "lines+markers", hovertemplate: hover,
      text: c.points.map((p) => `<b>${plain(rows[c.row].label)}</b><br>${f3(p.mean)} (${f3(p.low)} to ${f3(p.high)})`),
      line: { color: s.color, width: rows[c.row].control ? 1.4 : 2, dash: rows[c.row].control ? "dash" : s.dash }, marker: { color: s.color, symbol: s.symbol, size: 7 },
    };
  }

  function padded(values) {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return [low - 0.04 * (high - low), high + 0.04 * (high - low)];
  }

  /* The range of an axis with a little room on either side: a label outside of it must not widen it. */
  function span(ticks, log) {
    const [low, high] = [Math.min(...ticks), Math.max(...ticks)].map((t) => (log ? Math.log10(t) : t));
    const room = 0.03 * (high - low || 1);
    return [low - room, high + room];
  }

  /* Names at the ends of curves, moved apart where they would lie on one another, a thin line to each; the axis's range
     and the room that they take in pixels. Narrow figures show the letters only. */
  function ends(curves, rows, width, log, height) {
    const last = curves.map((c) => ({ row: c.row, ...c.points[c.points.length - 1] })).sort((a, b) => a.mean - b.mean);
    const range = [0, Math.min(1.04, Math.max(0.1, ...curves.flatMap((c) => c.points.map((p) => p.high))) * 1.06)];
    const gap = Math.min(14 * (range[1] / height), range[1] / Math.max(1, last.length - 0.5));
    const places = last.map((p) => p.mean);
    for (let i = 1; i < places.length; i++) places[i] = Math.max(places[i], places[i - 1] + gap);
    for (let i = places.length - 1, top = range[1] - gap / 2; i >= 0; i--, top = places[i + 1] - gap) places[i] = Math.min(places[i], top);
    const most = width < 520 ? 0 : 18;
    const name = (p) => (most ? `<b>${faircut.letter(p.row)}</b> ${short(rows[p.row].label, most)}` : `<b>${faircut.letter(p.row)}</b>`);
    const longest = Math.max(...last.map((p) => Math.min(most, rows[p.row].label.length)));
    const labels = last.map((p, i) => ({
      xref: "x", yref: "y", x: log ? Math.log10(p.x) : p.x, y: p.mean, text: name(p), showarrow: true, arrowhead: 0, arrowwidth: 0.8, standoff: 5,
      arrowcolor: faircut.colour(p.row), ax: 20, ay: ((p.mean - places[i]) * height) / range[1], xanchor: "left", font: { size: 11.5, color: faircut.colour(p.row) },
    }));
    return { labels, range, room: 40 + (most ? 7 * longest + 8 : 0) };
  }

  /* Labels beside points, each at the first place around its point where it lies on nothing else; pixels from the top left. */
  function apart(points, x, y, name, most) {
    const taken = points.map((p) => [x(p) - 7, y(p) - 7, x(p) + 7, y(p) + 7]);
    const places = [[11, -9], [11, 9], [-11, -9], [-11, 9], [11, -22], [11, 22], [-11, -22], [-11, 22], [11, 36], [-11, 36]];
    return points.map((p) => {
      const text = name(p), wide = 7 * text.length;
      const box = ([dx, dy]) => { const left = x(p) + (dx > 0 ? dx : dx - wide); return [left, y(p) + dy - 7, left + wide, y(p) + dy + 7]; };
      const free = (b) => b[0] > 0 && b[2] < most && taken.every((t) => t[2] < b[0] || t[0] > b[2] || t[3] < b[1] || t[1] > b[3]);
      const place = places.find((one) => free(box(one))) || places.find((one) => box(one)[2] < most) || places[0];
      taken.push(box(place));
      return { p, text, dx: place[0], dy: place[1] };
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
      hidden.set(set, new Set([...legend.querySelectorAll('button[aria-pressed="false"]')].map((b) => Number(b.dataset.row))));
      const own = [...legend.querySelectorAll("button[data-row]")];
      legend.querySelector("[data-controls]")?.addEventListener("click", (event) => {
        const gone = hidden.get(set), controls = own.filter((b) => b.hasAttribute("data-control"));
        const show = controls.some((b) => gone.has(Number(b.dataset.row)));
        for (const b of controls) {
          if (show) gone.delete(Number(b.dataset.row)); else if (gone.size < own.length - 1) gone.add(Number(b.dataset.row));
          b.setAttribute("aria-pressed", String(show));
        }
        event.target.textContent = show ? "hide all" : "show all";
        again();
      });
      own.forEach((button) => button.addEventListener("click", () => {
        const row = Number(button.dataset.row), gone = hidden.get(set);
        if (gone.has(row)) gone.delete(row); else if (gone.size < own.length - 1) gone.add(row);
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
