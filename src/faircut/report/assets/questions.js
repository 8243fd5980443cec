/* The list of questions, and the page of one: its evidence, what each row retrieved, what of the evidence was covered,
   why it was missed, and whether another boundary would have helped. */
"use strict";
(function () {
  const { el } = faircut;
  const f3 = (v) => v.toFixed(3);
  const BEYOND = 2;  // ranks after the cut that are shown; of the others, those that hold evidence

  faircut.questionList = function (place, data, set, options) {
    const columns = [
      { name: "question" }, { name: "document" }, { name: "hits", number: true, help: "rows that hit" },
      ...data.rows.map((r, i) => ({ name: r.label, number: true, node: [faircut.key(i), faircut.outside(r.label)] })),
    ];
    const rows = data.questions.map((q, n) => {
      const d = data.documents[q.evidence[0][0]];
      return [
        { value: q.text, show: () => el("a", { href: faircut.link("question", q.id, { set: set || null }) }, faircut.outside(q.text)) },
        { value: d.id, show: () => el("span", { class: "muted" }, faircut.outside(d.title || d.id)) },
        data.rows.reduce((sum, _, i) => sum + data.hits[i][n], 0),
        ...data.rows.map((_, i) => ({ value: data.scores[i][n], show: () => score(data, i, n) })),
      ];
    });
    const table = faircut.table({ id: "questions", caption: "Questions with the score of every row", columns, rows, filter: true });
    place.replaceChildren(
      faircut.heading("Questions"),
      el("p", { class: "lead" }, `Score by ${[...new Set(data.rows.map((r) => r.measure))].join(", ")}. `,
        el("span", { class: "tone hit" }, "hit"), ": a piece of evidence is covered by 95 % at that cut; ", el("span", { class: "tone miss" }, "miss"), ": none is."),
      narrowing(data, table), table);
  };

  function score(data, row, n) {
    const hit = data.hits[row][n], cause = data.causes[row]?.[n];
    return el("span", { class: `tone ${hit ? "hit" : "miss"}`, title: hit ? "hit" : `miss${cause ? `: ${cause}` : ""}` }, data.scores[row][n].toFixed(2), el("span", { class: "hidden" }, hit ? " hit" : " miss"));
  }

  /* Which questions are listed: all, those that tell rows apart, those that a row misses. */
  function narrowing(data, table) {
    const rules = [
      ["all questions", null],
      ["hit by some, missed by others", (values) => values[2] > 0 && values[2] < data.rows.length],
      ["missed by all", (values) => values[2] === 0],
      ...data.rows.map((r, i) => [`missed by ${faircut.visible(r.label)}`, (values) => !data.hits[i][at.get(values)]]),
    ];
    const at = new Map();
    const select = el("select", {
      on: { change: () => faircut.announce(faircut.plural(table.narrow(rules[select.value][1] && ((values) => rules[select.value][1](values))), "question")) },
    }, rules.map(([name], i) => el("option", { value: String(i) }, name)));
    table.narrow((values) => { at.set(values, at.size); return true; });
    table.narrow(null);
    return el("label", { class: "narrow" }, "Show ", select);
  }

  /* ---------------------------------------------------------- one question */

  faircut.questionPage = async function (place, data, set, number) {
    const q = data.questions[number];
    const found = (await faircut.part(`questions-${set}-${q.pack}`))[number];
    const docs = new Map();
    const needed = new Set([...q.evidence.map((e) => e[0]), ...found.flatMap((f) => f.hits.map((h) => h[1]))]);
    await Promise.all([...needed].map(async (d) => {
      docs.set(d, faircut.decode((await faircut.part(`documents-${set}-${data.documents[d].pack}`))[d]));
    }));
    const link = (page, id, more) => faircut.link(page, id, { set: set || null, ...more });
    const step = (by, label) => {
      const other = data.questions[number + by];
      return other ? el("a", { href: link("question", other.id), rel: by > 0 ? "next" : "prev" }, label) : el("span", { class: "muted" }, label);
    };
    const context = { data, q, number, docs, link, set };
    const hits = data.rows.reduce((sum, _, i) => sum + data.hits[i][number], 0);
    place.replaceChildren(
      el("nav", { class: "steps", "aria-label": "Questions" }, step(-1, "\u2190 previous"), el("a", { href: link("questions") }, "all questions"), step(1, "next \u2192")),
      faircut.heading(q.text),
      el("p", { class: "over" }, faircut.outside(q.id), ` \u00b7 ${q.evidence.length > 1 ? (q.match === "all" ? `${q.evidence.length} pieces of evidence, all needed` : `${q.evidence.length} pieces of evidence, any will do`) : "one piece of evidence"}`,
        q.within !== null ? " \u00b7 searched in its document only" : "", ` \u00b7 hit by ${hits} of ${faircut.plural(data.rows.length, "row")}`),
      el("h2", {}, "Evidence"), ...q.evidence.map((e, i) => evidence(context, e, i)),
      el("h2", {}, "What each row made of it"), summary(context, found),
      el("h2", {}, "What was retrieved"),
      el("p", { class: "lead" }, "In rank order with the score of the index. What the deciding cut delivered is above the line; evidence is marked.",
        data.rows.some((r) => r.delivers) ? [" A hit brings more than its chunk (", faircut.outside([...new Set(data.rows.map((r) => r.delivers))].join(", ")), "): evidence around it may be covered too."] : null),
      el("div", { class: "rankings" }, found.map((f, i) => ranking(context, f, i))));
  };

  /* A piece of evidence with what stands around it. */
  function evidence({ q, docs, data, link }, [d, start, end], i) {
    const doc = docs.get(d);
    const [a, b] = [doc.unit(start), doc.unit(end)];
    const from = Math.max(0, a - 220), to = Math.min(doc.text.length, b + 220);
    return el("figure", { class: "quote" },
      el("figcaption", {}, q.evidence.length > 1 ? `Piece ${i + 1}, ` : "", el("a", { href: link("document", doc.id, { at: start, end }) }, "open in ", faircut.outside(doc.title || doc.id)), el("span", { class: "muted" }, ` characters ${faircut.whole(start)}\u2013${faircut.whole(end)}`)),
      el("blockquote", { dir: "auto" }, from ? "\u2026" : "", faircut.visible(doc.text.slice(from, a)), el("mark", { class: "evidence" }, faircut.visible(doc.text.slice(a, b))), faircut.visible(doc.text.slice(b, to)), to < doc.text.length ? "\u2026" : ""));
  }

  function summary({ data, q, number, link }, found) {
    const causes = data.rows.some((_, i) => data.causes[i]);
    const columns = [
      { name: "chunker" }, { name: "score", number: true }, { name: "result" }, { name: "evidence covered" },
      ...(causes ? [{ name: "why missed" }] : []), { name: "tokens", number: true }, { name: "chunks delivered", number: true },
    ];
    const rows = data.rows.map((r, i) => {
      const hit = data.hits[i][number], f = found[i];
      return [
        { value: r.label, show: () => el("a", { href: `#ranking-${i}`, on: { click: (e) => { e.preventDefault(); jumpTo(i); } } }, faircut.key(i), faircut.outside(r.label)) },
        { value: data.scores[i][number], show: () => f3(data.scores[i][number]) },
        { value: hit ? "hit" : "miss", show: () => el("span", { class: `tone ${hit ? "hit" : "miss"}` }, hit ? "hit" : "miss") },
        { value: covered(q, f), show: () => strip(q, f, i) },
        ...(causes ? [{ value: data.causes[i]?.[number] || "", show: () => (hit ? "" : data.causes[i]?.[number] || "") }] : []),
        f.tokens, f.whole + (f.part.length ? 1 : 0),
      ];
    });
    return faircut.table({ id: `question-${q.id}`.replace(/[^\w-]+/g, "-").slice(0, 60), caption: "Result of every row", columns, rows });
  }

  function jumpTo(i) {
    const target = document.getElementById(`ranking-${i}`);
    target.scrollIntoView({ block: "start" });
    target.focus({ preventScroll: true });
  }

  function covered(q, f) {
    const all = q.evidence.reduce((sum, [, a, b]) => sum + b - a, 0);
    return Math.round((1000 * f.covered.reduce((sum, [, a, b]) => sum + b - a, 0)) / all) / 1000;
  }

  /* The evidence as a strip on which what was delivered is filled. */
  function strip(q, f, row) {
    const all = q.evidence.reduce((sum, [, a, b]) => sum + b - a, 0);
    const places = [];
    let before = 0;
    q.evidence.forEach(([, start, end], piece) => {
      for (const [p, a, b] of f.covered) if (p === piece) {
        const fill = el("i", { class: `c${row % 10}` });
        fill.style.left = `${(100 * (before + a - start)) / all}%`;
        fill.style.width = `${(100 * (b - a)) / all}%`;
        places.push(fill);
      }
      if (piece) { const edge = el("u", {}); edge.style.left = `${(100 * before) / all}%`; places.push(edge); }
      before += end - start;
    });
    return el("span", { class: "covered" }, el("span", { class: "strip", "aria-hidden": "true" }, places), `${Math.round(100 * covered(q, f))} %`);
  }

  /* ---------------------------------------------------------- one row's ranking */

  function ranking(context, f, i) {
    const { data, number } = context;
    const row = data.rows[i], hit = data.hits[i][number];
    const items = [];
    const last = f.whole + (f.part.length ? 1 : 0);
    const shown = f.hits.filter((h) => h[0] <= last + BEYOND || meets(context, h, i));
    shown.forEach((h, k) => {
      const delivered = h[0] <= f.whole ? "whole" : h[0] <= last ? "part" : "";
      const before = k ? shown[k - 1][0] : 0;
      if (!delivered && before <= last) items.push(el("li", { class: "budget" }, `the cut: ${faircut.whole(f.tokens)} tokens delivered`));
      if (h[0] > before + 1) items.push(el("li", { class: "gap" }, h[0] === before + 2 ? `rank ${before + 1} is not shown` : `ranks ${before + 1} to ${h[0] - 1} are not shown`));
      items.push(item(context, f, h, i, delivered));
    });
    return el("section", { class: "ranking", id: `ranking-${i}`, tabindex: "-1", "aria-labelledby": `ranking-name-${i}` },
      el("h3", { id: `ranking-name-${i}` }, faircut.key(i), faircut.outside(row.label), " ", el("span", { class: `tone ${hit ? "hit" : "miss"}` }, hit ? "hit" : "miss"), el("span", { class: "muted" }, ` ${f3(data.scores[i][number])}`)),
      f.diagnosis && !hit ? diagnosis(context, f.diagnosis) : null,
      f.hits.length ? el("ol", { class: "hits" }, items) : el("p", {}, "Nothing was retrieved: the question scores 0."));
  }

  /* Whether a hit holds some of the evidence. */
  function meets({ q, docs }, [, d, n], row) {
    const doc = docs.get(d);
    return q.evidence.some(([e, a, b]) => e === d && doc.lanes[row].points[n].some(([x, y]) => x < b && y > a));
  }

  function item({ data, docs, link, q }, f, [rank, d, n, score], row, delivered) {
    const doc = docs.get(d), lane = doc.lanes[row];
    const marks = q.evidence.filter((e) => e[0] === d).map(([, a, b]) => [doc.unit(a), doc.unit(b)]);
    const rewritten = lane.texts[n];
    const [start, end] = lane.points[n][0];
    return el("li", { class: delivered ? "delivered" : "beyond", value: String(rank) },
      el("p", { class: "of" }, el("b", {}, `${rank}`), el("span", { class: "score" }, f3(score)),
        el("a", { href: link("document", doc.id, { at: start, end, lane: row || null }) }, faircut.outside(doc.title || doc.id), ` chunk ${n + 1}`),
        el("span", { class: "muted" }, ` ${faircut.plural(lane.tokens[n], "token")}${delivered === "part" ? ", delivered in part" : ""}${rewritten ? ", rewritten" : ""}`)),
      rewritten ? el("p", { class: "excerpt", dir: "auto" }, faircut.visible(rewritten.slice(0, 400))) : excerpt(doc, lane.spans[n], marks));
  }

  /* Where the chunk meets the evidence, else its begin. */
  function excerpt(doc, spans, marks) {
    const LENGTH = 320;
    const [first, last] = [spans[0][0], spans[spans.length - 1][1]];
    const met = marks.find(([a, b]) => spans.some(([x, y]) => x < b && y > a));
    let from = first;
    if (met && met[0] > first + LENGTH / 2) from = Math.max(first, met[0] - 80);
    const to = Math.min(last, Math.max(from + LENGTH, met ? Math.min(met[1] + 40, from + 3 * LENGTH) : 0));
    const pieces = [];
    let p = from;
    for (const [a, b] of marks.filter(([a, b]) => a < to && b > from).sort((x, y) => x[0] - y[0])) {
      if (a > p) pieces.push(squeezed(doc.text.slice(p, a)));
      pieces.push(el("mark", { class: "evidence" }, squeezed(doc.text.slice(Math.max(a, p), Math.min(b, to)))));
      p = Math.max(p, Math.min(b, to));
    }
    if (p < to) pieces.push(squeezed(doc.text.slice(p, to)));
    return el("p", { class: "excerpt", dir: "auto" }, from > first ? "\u2026 " : "", pieces, to < last ? " \u2026" : "");
  }

  const squeezed = (text) => faircut.visible(text.replace(/\s+/g, " "));

  /* ---------------------------------------------------------- why it was missed */

  function diagnosis({ data }, found) {
    const words = data.causeWords?.[found.cause];
    return el("div", { class: "diagnosis" },
      el("p", {}, el("b", {}, faircut.outside(found.cause)), words ? [": ", faircut.outside(words), "."] : ""),
      found.readable ? el("p", {}, faircut.outside(found.readable)) : null,
      facts(found.detail), moved(found.counterfactual));
  }

  function facts(miss) {
    if (!miss) return null;
    const percent = (share) => `${Math.round(100 * share)} %`;
    const said = [];
    if (miss.held_by?.length) said.push(`Held by ${miss.held_by.slice(0, 4).map((h) => `${h.rank ? `rank ${h.rank}` : "a chunk that was not retrieved"} (${percent(h.share)} of it${h.seen < h.share - 0.005 ? `, the embedder read ${percent(h.seen)}` : ""})`).join(", ")}${miss.held_by.length > 4 ? " and more" : ""}.`);
    if (miss.boundaries?.length) said.push(`${faircut.plural(miss.boundaries.length, "boundary").replace("boundarys", "boundaries")} inside, at character ${miss.boundaries.slice(0, 5).map((b) => faircut.whole(b.end)).join(", ")}.`);
    if (miss.above_in_document || miss.above_elsewhere) said.push(`Before it came ${faircut.plural(miss.above_in_document, "chunk")} of its document and ${miss.above_elsewhere} of others.`);
    if (miss.tokens_needed) said.push(`It would have been a hit with ${faircut.whole(miss.tokens_needed)} tokens${miss.rank ? ` (${faircut.plural(miss.rank, "chunk")})` : ""}; ${faircut.whole(miss.tokens_delivered)} were delivered.`);
    if (miss.tokens_repeated) said.push(`${faircut.plural(miss.tokens_repeated, "token")} of the delivery repeated what had been delivered.`);
    return said.length ? el("ul", { class: "plain" }, said.map((s) => el("li", {}, s))) : null;
  }

  function moved(found) {
    if (!found) return null;
    const answer = found.hit === true ? "Yes" : found.hit === false ? "No" : "Not possible within the rules of this chunker";
    const moves = (found.moves || []).map((m) => el("li", {}, `boundary ${m.boundary + 1} one sentence ${m.direction}: `, m.possible === false ? faircut.outside(m.reason) : m.hit ? "a hit" : "still a miss"));
    return el("div", {}, el("p", {}, el("b", {}, answer), ": would it have been a hit with a boundary moved by one sentence? (cut, embedded and ranked again)"),
      moves.length ? el("ul", { class: "plain" }, moves) : null);
  }
})();
