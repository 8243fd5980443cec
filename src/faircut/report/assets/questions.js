/* The list of questions, and the page of one: its evidence, what each row retrieved, what of the evidence was covered,
   why it was missed, and whether another boundary would have helped. */
"use strict";
(function () {
  const { el } = faircut;
  const f3 = (v) => v.toFixed(3);
  const BEYOND = 2;  // ranks after the cut that are shown; of the others, those that hold evidence

  faircut.questionList = function (place, data, set, options) {
    const own = data.rows.map((_, i) => i).filter((i) => !data.rows[i].control);
    const columns = [
      { name: "question" }, { name: "document" }, { name: "hits", number: true, help: `how many of the ${own.length} chunkers hit, controls not counted` },
      ...data.rows.map((_, i) => faircut.rowHead(data.rows, i)),
    ];
    const rows = data.questions.map((q, n) => {
      const d = data.documents[q.evidence[0][0]];
      return [
        { value: q.text, show: () => el("a", { href: faircut.link("question", q.id, { set: set || null }) }, faircut.outside(q.text)) },
        { value: d.id, show: () => el("span", { class: "muted" }, faircut.outside(d.title || d.id)) },
        own.reduce((sum, i) => sum + data.hits[i][n], 0),
        ...data.rows.map((_, i) => ({ value: data.scores[i][n], show: () => score(data, i, n) })),
      ];
    });
    const table = faircut.table({ id: "questions", caption: "Questions with the score of every row", columns, rows, filter: true });
    place.replaceChildren(
      faircut.heading("Questions"),
      el("p", { class: "lead" }, `Score by ${[...new Set(data.rows.map((r) => r.measure))].join(", ")}. `,
        el("span", { class: "tone hit" }, "hit"), data.namedOnly ? ": a chunk of a right document is within that cut; " : ": a piece of evidence is covered by 95 % at that cut; ", el("span", { class: "tone miss" }, "miss"), ": none is. ", `Hits: of the ${faircut.plural(own.length, "chunker")}${own.length < data.rows.length ? ", controls not counted" : ""}.`),
      ...[named(data), faircut.letters(data.rows)].filter(Boolean), narrowing(data, table, own.length), table);
  };

  /* Why no places are shown, where questions only name documents. */
  const named = (data) => (data.namedOnly ? el("p", { class: "lead", role: "note" }, data.namedOnly) : null);

  function score(data, row, n) {
    const hit = data.hits[row][n], cause = data.causes[row]?.[n];
    return el("span", { class: `tone ${hit ? "hit" : "miss"}`, title: hit ? "hit" : `miss${cause ? `: ${cause}` : ""}` }, data.scores[row][n].toFixed(2), el("span", { class: "hidden" }, hit ? " hit" : " miss"));
  }

  /* Which questions are listed: all, those that tell rows apart, those that a row misses. */
  function narrowing(data, table, own) {
    const rules = [
      ["all questions", null],
      ["hit by some, missed by others", (values) => values[2] > 0 && values[2] < own],
      ["missed by all chunkers", (values) => values[2] === 0],
      ...data.rows.map((r, i) => [faircut.visible(r.label), (values) => !data.hits[i][at.get(values)]]),
    ];
    const at = new Map();
    const select = el("select", {
      on: { change: () => faircut.announce(faircut.plural(table.narrow(rules[select.value][1] && ((values) => rules[select.value][1](values))), "question")) },
    }, grouped(data, rules));
    table.narrow((values) => { at.set(values, at.size); return true; });
    table.narrow(null);
    return el("label", { class: "narrow" }, "Show ", select);
  }

  /* The rules as options: those on all rows, then those on one chunker, then on one control. */
  function grouped(data, rules) {
    const option = ([name], i) => el("option", { value: String(i) }, name);
    const of = (control) => data.rows.map((r, i) => [r, rules.length - data.rows.length + i]).filter(([r]) => r.control === control).map(([, at]) => option(rules[at], at));
    const controls = of(true);
    return [rules.slice(0, rules.length - data.rows.length).map(option), el("optgroup", { label: "missed by" }, of(false)),
      controls.length ? el("optgroup", { label: "missed by the control" }, controls) : null];
  }

  /* ---------------------------------------------------------- one question */

  /* Whether a piece of evidence is a document without a place in it. */
  const whole = ([, start, end]) => start === end;
  const right = (q, d) => q.evidence.some((e) => e[0] === d);

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
    place.replaceChildren(
      el("nav", { class: "steps", "aria-label": "Questions" }, step(-1, "\u2190 previous"), el("a", { href: link("questions") }, "all questions"), step(1, "next \u2192")),
      faircut.heading(q.text),
      el("p", { class: "over" }, faircut.outside(q.id), ` \u00b7 ${q.evidence.length > 1 ? (q.match === "all" ? `${q.evidence.length} pieces of evidence, all needed` : `${q.evidence.length} pieces of evidence, any will do`) : whole(q.evidence[0]) ? "a document, without a place in it" : "one piece of evidence"}`,
        q.within !== null ? " \u00b7 searched in its document only" : ""),
      el("p", {}, outcome(context)), ...[named(data)].filter(Boolean),
      el("h2", {}, "Evidence"), ...q.evidence.map((e, i) => evidence(context, e, i)),
      el("h2", {}, "What each row made of it"), summary(context, found),
      el("h2", {}, "What was retrieved"),
      el("p", { class: "lead" }, `In rank order with the score of the index. What ${cutWords(data)} delivered is above the line; ${data.namedOnly ? "chunks of a right document say so" : "evidence is marked"}.`,
        data.rows.some((r) => r.delivers) ? [" A hit brings more than its chunk (", faircut.outside([...new Set(data.rows.map((r) => r.delivers).filter(Boolean))].join(", ")),
          found.some((f) => f.brought) ? "): what stands around it is paler, and what an earlier hit brought is not brought again." : "): evidence around it may be covered too."] : null),
      ...rankings(context, found));
  };

  /* The deciding measure's cut in words. */
  function cutWords(data) {
    const cut = data.rows[0].measure.split("@")[1] || "";
    return cut.endsWith("t") ? `the budget of ${faircut.whole(parseInt(cut, 10))} tokens` : `the first ${faircut.plural(Number(cut), "chunk")}`;
  }

  /* One sentence on the question: who hit it, and why the others did not. */
  function outcome({ data, number }) {
    const own = data.rows.map((r, i) => i).filter((i) => !data.rows[i].control);
    const controls = data.rows.map((r, i) => i).filter((i) => data.rows[i].control);
    const hits = (rows) => rows.filter((i) => data.hits[i][number]).length;
    const causes = new Map();
    for (const i of own) if (!data.hits[i][number] && data.causes[i]?.[number]) causes.set(data.causes[i][number], (causes.get(data.causes[i][number]) || 0) + 1);
    const missed = [...causes].sort((a, b) => b[1] - a[1]).map(([cause, n]) => `${n} ${cause}`);
    return [el("b", {}, `Hit by ${hits(own)} of ${faircut.plural(own.length, "chunker")}`),
      controls.length ? ` and ${hits(controls)} of ${faircut.plural(controls.length, "control")}` : "", ".",
      missed.length ? [" Misses: ", faircut.outside(missed.join(", ")), "."] : ""];
  }

  /* All rankings, chunkers first, controls apart. Of many, only the best and the baseline are open at first. */
  function rankings(context, found) {
    const { data } = context;
    const open = (i) => data.rows.length <= 4 || i === 0 || data.rows[i].baseline;
    const group = (control) => found.map((f, i) => [f, i]).filter(([, i]) => data.rows[i].control === control).map(([f, i]) => ranking(context, f, i, open(i)));
    const [own, controls] = [group(false), group(true)];
    const place = el("div", {},
      el("div", { class: "rankings" }, own),
      controls.length ? [el("h2", {}, "What their controls retrieved"), el("div", { class: "rankings" }, controls)] : null);
    const all = (value) => () => { place.querySelectorAll(".ranking > details").forEach((d) => { d.open = value; }); faircut.announce(value ? "All lists are open" : "All lists are closed"); };
    const buttons = data.rows.length > 4 ? el("p", { class: "steps" },
      el("button", { type: "button", on: { click: all(true) } }, "Open all lists"), el("button", { type: "button", on: { click: all(false) } }, "Close all lists")) : null;
    return [buttons, place].filter(Boolean);
  }

  /* The begin of a word at or after a place, the end of one at or before it: an excerpt does not cut words. */
  function wordStart(text, from, most) {
    if (!from || /\s/.test(text[from - 1])) return from;
    const space = text.slice(from, Math.min(most, from + 40)).search(/\s/);
    return space < 0 ? from : from + space + 1;
  }
  function wordEnd(text, to, least) {
    if (to >= text.length || /\s/.test(text[to])) return to;
    const space = text.slice(Math.max(least, to - 40), to).search(/\s\S*$/);
    return space < 0 ? to : Math.max(least, to - 40) + space;
  }

  /* A piece of evidence with what stands around it. */
  function evidence({ q, docs, data, link }, [d, start, end], i) {
    const doc = docs.get(d);
    if (whole([d, start, end])) return el("p", {}, el("a", { href: link("document", doc.id) }, faircut.outside(doc.title || doc.id)), el("span", { class: "muted" }, ", without a place in it"));
    const [a, b] = [doc.unit(start), doc.unit(end)];
    const from = wordStart(doc.text, Math.max(0, a - 220), a), to = wordEnd(doc.text, Math.min(doc.text.length, b + 220), b);
    return el("figure", { class: "quote" },
      el("figcaption", {}, q.evidence.length > 1 ? `Piece ${i + 1}, ` : "", el("a", { href: link("document", doc.id, { at: start, end }) }, "open in ", faircut.outside(doc.title || doc.id)), el("span", { class: "muted" }, ` characters ${faircut.whole(start)}\u2013${faircut.whole(end)}`)),
      el("blockquote", { dir: "auto" }, from ? "\u2026" : "", faircut.visible(doc.text.slice(from, a)), el("mark", { class: "evidence" }, faircut.visible(doc.text.slice(a, b))), faircut.visible(doc.text.slice(b, to)), to < doc.text.length ? "\u2026" : ""));
  }

  function summary({ data, q, number, link }, found) {
    const causes = data.rows.some((_, i) => data.causes[i]);
    const columns = [
      { name: "chunker" }, { name: "result" }, ...(causes ? [{ name: "why missed" }] : []), ...(data.namedOnly ? [] : [{ name: "evidence covered" }]),
      { name: data.rows[0].measure, number: true }, { name: "tokens", number: true }, { name: "chunks delivered", number: true },
    ];
    const rows = data.rows.map((r, i) => {
      const hit = data.hits[i][number], f = found[i];
      return [
        { value: r.label, show: () => el("a", { href: `#ranking-${i}`, on: { click: (e) => { e.preventDefault(); jumpTo(i); } } }, faircut.key(i), faircut.outside(r.label), r.control ? [" ", el("span", { class: "tag" }, "control")] : null) },
        { value: hit ? "hit" : "miss", show: () => el("span", { class: `tone ${hit ? "hit" : "miss"}` }, hit ? "hit" : "miss") },
        ...(causes ? [{ value: data.causes[i]?.[number] || "", show: () => (hit ? "" : data.causes[i]?.[number] || "") }] : []),
        ...(data.namedOnly ? [] : [{ value: Math.round(1000 * coveredShare(q, f)) / 1000, show: () => strip(q, f, i) }]),
        { value: data.scores[i][number], show: () => f3(data.scores[i][number]) },
        f.tokens, f.whole + (f.part.length ? 1 : 0),
      ];
    });
    return faircut.table({ id: `question-${q.id}`.replace(/[^\w-]+/g, "-").slice(0, 60), caption: "Result of every row", columns, rows });
  }

  function jumpTo(i) {
    const target = document.getElementById(`ranking-${i}`);
    target.querySelector("details")?.setAttribute("open", "");
    target.scrollIntoView({ block: "start" });
    target.focus({ preventScroll: true });
  }

  function coveredShare(q, f) {
    const all = q.evidence.reduce((sum, [, a, b]) => sum + b - a, 0);
    return f.covered.reduce((sum, [, a, b]) => sum + b - a, 0) / all;
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
    return el("span", { class: "covered" }, el("span", { class: "strip", "aria-hidden": "true" }, places), faircut.percent(coveredShare(q, f)));
  }

  /* ---------------------------------------------------------- one row's ranking */

  function ranking(context, f, i, open) {
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
      f.diagnosis && !hit ? diagnosis(context, f, i) : null,
      f.hits.length ? el("details", { open }, el("summary", {}, `${faircut.plural(last, "chunk")} delivered, ${faircut.plural(f.tokens, "token")}`, el("span", { class: "hidden" }, " by ", faircut.outside(row.label))), el("ol", { class: "hits" }, items))
        : el("p", {}, "Nothing was retrieved: the question scores 0."));
  }

  /* Whether a hit holds some of the evidence. */
  function meets({ q, docs }, [, d, n], row) {
    const doc = docs.get(d);
    return q.evidence.some(([e, a, b]) => e === d && !whole([e, a, b]) && doc.lanes[row].points[n].some(([x, y]) => x < b && y > a));
  }

  function item({ data, docs, link, q }, f, [rank, d, n, score], row, delivered) {
    const doc = docs.get(d), lane = doc.lanes[row];
    const marks = q.evidence.filter((e) => e[0] === d && !whole(e)).map(([, a, b]) => [doc.unit(a), doc.unit(b)]);
    const rewritten = lane.texts[n];
    const brought = f.brought?.[rank - 1];
    const places = brought?.length ? brought : lane.points[n];
    const [start, end] = [places[0][0], places[places.length - 1][1]];
    const size = (all) => all.reduce((sum, [a, b]) => sum + b - a, 0);
    const wider = brought && delivered ? (brought.length ? `, brought ${faircut.plural(size(brought), "character")} (the chunk has ${faircut.whole(size(lane.points[n]))})` : ", brought nothing new") : "";
    const drawn = brought?.length ? brought.map(([a, b]) => [doc.unit(a), doc.unit(b)]) : lane.spans[n];
    return el("li", { class: delivered ? "delivered" : "beyond", value: String(rank) },
      el("p", { class: "of" }, el("b", {}, `${rank}`), el("span", { class: "score" }, f3(score)),
        el("a", { href: link("document", doc.id, { at: start, end, lane: row || null }) }, faircut.outside(doc.title || doc.id), ` chunk ${n + 1}`),
        el("span", { class: "muted" }, ` ${faircut.plural(lane.tokens[n], "token")}${delivered === "part" ? ", delivered in part" : ""}${rewritten ? ", rewritten" : ""}${wider}${data.namedOnly && right(q, d) ? ", of a right document" : ""}`)),
      rewritten ? el("p", { class: "excerpt", dir: "auto" }, faircut.visible(rewritten.slice(0, 400))) : excerpt(doc, lane.spans[n], drawn, marks));
  }

  /* Where a hit meets the evidence, else its begin; what was brought beside the chunk is paler. */
  function excerpt(doc, own, spans, marks) {
    const LENGTH = 320;
    const [first, last] = [spans[0][0], spans[spans.length - 1][1]];
    const met = marks.find(([a, b]) => spans.some(([x, y]) => x < b && y > a));
    let from = met || spans === own ? first : Math.max(first, Math.min(own[0][0], last));
    if (met && met[0] > first + LENGTH / 2) from = wordStart(doc.text, Math.max(first, met[0] - 80), met[0]);
    const until = Math.min(last, Math.max(from + LENGTH, met ? Math.min(met[1] + 40, from + 3 * LENGTH) : 0));
    const to = until < last ? wordEnd(doc.text, until, from) : last;
    const edges = new Set([from, to]);
    for (const [a, b] of [...marks, ...own, ...spans]) for (const p of [a, b]) if (p > from && p < to) edges.add(p);
    const sorted = [...edges].sort((a, b) => a - b), pieces = [];
    const within = (all, a, b) => all.some(([x, y]) => x <= a && y >= b);
    for (let i = 0; i + 1 < sorted.length; i++) {
      const [a, b] = [sorted[i], sorted[i + 1]];
      if (!within(spans, a, b) && !within(own, a, b)) { pieces.push(doc.text.slice(a, b).trim() ? " \u2026 " : " "); continue; }
      const text = squeezed(doc.text.slice(a, b));
      if (within(marks, a, b)) pieces.push(el("mark", { class: "evidence" }, text));
      else pieces.push(within(own, a, b) ? text : el("span", { class: "around" }, text));
    }
    return el("p", { class: "excerpt", dir: "auto" }, from > first ? "\u2026 " : "", pieces, to < last ? " \u2026" : "");
  }

  const squeezed = (text) => faircut.visible(text.replace(/\s+/g, " "));

  /* ---------------------------------------------------------- why it was missed */

  function diagnosis(context, f, row) {
    const found = f.diagnosis, miss = found.detail;
    const words = context.data.causeWords?.[found.cause];
    const said = miss && SENTENCES[found.cause] ? SENTENCES[found.cause](miss, f) : words ? `${words}.` : "";
    return el("div", { class: "diagnosis" },
      el("p", { title: words || null }, el("b", {}, faircut.outside(found.cause)), said ? ": " : "", faircut.outside(said)),
      found.readable ? el("p", {}, faircut.outside(found.readable)) : null,
      miss ? [places(context, miss, row), remedy(found, miss)] : null, moved(found.counterfactual));
  }

  const percent = (share) => faircut.percent(share);
  const beyond = (m) => (m.rank ? `came at rank ${faircut.whole(m.rank)}` : `is not among the first ${faircut.whole(m.examined)} ranks`);
  const ended = (f) => `the context was full after rank ${faircut.whole(f.whole + (f.part.length ? 1 : 0))}`;

  /* The diagnosis in one sentence, by cause; the rule behind each cause is on the page Diagnosis of the documentation. */
  const SENTENCES = {
    lost: (m) => `${percent(m.lost.reduce((sum, [a, b]) => sum + b - a, 0) / (m.end - m.start))} of the evidence is in no chunk, so no search could have found it.`,
    truncated: (m) => {
      const seen = Math.max(0, ...m.held_by.map((h) => h.seen));
      return `the chunk is longer than the embedder reads, and ${seen < 0.005 ? "all of the evidence stands" : `only ${percent(seen)} of the evidence stands before, the rest`} behind the place where it stops.`;
    },
    "too long": () => "the chunk that holds the evidence is larger than the whole budget, and the evidence stands at its end.",
    cut: (m, f) => `${m.boundaries.length > 1 ? `${m.boundaries.length} boundaries cut` : "a boundary cuts"} the evidence, and ${m.covered > 0 ? `only ${percent(m.covered)} of it was` : "none of its pieces was"} delivered before ${ended(f)}.`,
    "crowded out": (m) => `there was room for it, had ${faircut.plural(m.tokens_repeated, "token")} not been delivered twice.`,
    outranked: (m, f) => `one chunk holds the whole evidence, but it ${beyond(m)}, and ${ended(f)}.`,
    "wrong passage": (m) => `other chunks of the right document were delivered; the one with the evidence ${beyond(m)}.`,
    "wrong document": (m) => `nothing of the right document was delivered; the chunk with the evidence ${beyond(m)}.`,
  };

  /* Where to look: the chunks that hold the evidence, and the boundaries inside it, as links to the lane of this row. */
  function places({ docs, link, data, q }, miss, row) {
    const doc = [...docs.values()].find((d) => d.id === miss.document) || docs.get(q.evidence[miss.piece]?.[0]);
    if (!doc) return null;
    const to = (at, end, text) => el("a", { href: link("document", doc.id, { at, end, lane: row || null }) }, text);
    const join = (all) => all.flatMap((one, i) => (i ? [", ", one] : [one]));
    const held = miss.held_by.slice(0, 4).map((h) => to(h.start, h.end, `${h.rank ? `rank ${h.rank}` : "a chunk that was not retrieved"} (${percent(h.share)} of it)`));
    const cuts = miss.boundaries.slice(0, 5).map((b) => to(Math.min(b.start, b.end), Math.max(b.start, b.end), `character ${faircut.whole(b.end)}`));
    return el("ul", { class: "plain" },
      held.length ? el("li", {}, "Held by ", join(held), miss.held_by.length > 4 ? " and more." : ".") : null,
      cuts.length ? el("li", {}, `${cuts.length === 1 ? "Boundary" : "Boundaries"} inside it: `, join(cuts), ".") : null,
      miss.above_in_document || miss.above_elsewhere ? el("li", {}, `Before it came ${faircut.plural(miss.above_in_document, "chunk")} of its document and ${faircut.whole(miss.above_elsewhere)} of others.`) : null);
  }

  function remedy(found, miss) {
    const said = [];
    if (miss.tokens_needed) said.push(`With ${faircut.whole(miss.tokens_needed)} tokens it would have been a hit; ${faircut.whole(miss.tokens_delivered)} were delivered.`);
    if (miss.tokens_repeated && found.cause !== "crowded out") said.push(`${faircut.plural(miss.tokens_repeated, "token")} of the delivery repeated what had been delivered.`);
    return said.length ? el("p", { class: "remedy" }, said.join(" ")) : null;
  }

  /* The counterfactual: cut, embedded and ranked again, not guessed. */
  function moved(found) {
    if (!found) return null;
    const answer = found.hit === true ? "yes, with a boundary moved by one sentence it would have been a hit."
      : found.hit === false ? "no, with the boundary moved by one sentence it is still a miss."
      : found.skipped ? `not tried: ${faircut.visible(found.skipped)}.` : "not possible within the rules of this chunker.";
    const moves = (found.moves || []).map((m) => el("li", {}, `boundary ${m.boundary + 1} one sentence ${m.direction}: `, m.possible === false ? faircut.outside(m.reason) : m.hit ? "a hit" : "still a miss"));
    return el("div", {}, el("p", {}, el("b", {}, "Would another boundary have helped?"), " ", answer[0].toUpperCase() + answer.slice(1)),
      moves.length ? el("ul", { class: "plain" }, moves) : null);
  }
})();
