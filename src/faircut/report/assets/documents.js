/* The list of documents and the page of one document, for every page that has some. */
"use strict";
(function () {
  const { el } = faircut;

  faircut.heading = (text, ...more) => el("h1", { tabindex: "-1" }, typeof text === "string" ? faircut.outside(text) : text, ...more);

  /* What the letters stand for, where there are too many rows for their names at the heads of columns. */
  const MANY = 5;
  faircut.rowHead = (rows, i) => ({
    name: rows[i].label, number: true, help: rows[i].label,
    node: [faircut.key(i), rows.length > MANY ? el("span", { class: "hidden" }, faircut.outside(rows[i].label)) : faircut.outside(rows[i].label)],
  });
  faircut.letters = (rows) => (rows.length > MANY ? el("ul", { class: "letters", "aria-hidden": "true" }, rows.map((r, i) => el("li", {}, faircut.key(i), faircut.outside(r.label)))) : null);

  faircut.documentList = function (place, data, { set = 0, questions = null } = {}) {
    const counts = new Map();
    for (const q of questions || []) for (const d of new Set(q.evidence.map((e) => e[0]))) counts.set(d, (counts.get(d) || 0) + 1);
    const chunks = (d, i) => (d.chunks ? d.chunks[i] : data.rows[i].chunks[d.number]);
    const columns = [
      { name: "document" }, { name: "characters", number: true },
      ...(questions ? [{ name: "questions", number: true }] : []),
      ...data.rows.map((_, i) => faircut.rowHead(data.rows, i)),
    ];
    const rows = data.documents.map((d, number) => [
      { value: d.id, show: () => el("a", { href: faircut.link("document", d.id, { set: set || null }) }, faircut.outside(d.title || d.id)) },
      d.characters,
      ...(questions ? [counts.get(number) || 0] : []),
      ...data.rows.map((_, i) => chunks({ ...d, number }, i)),
    ]);
    place.replaceChildren(
      faircut.heading("Documents"),
      el("p", { class: "lead" }, "Open a document to see where each chunker cuts it. Under each chunker: the number of its chunks."),
      ...[faircut.letters(data.rows)].filter(Boolean),
      faircut.table({ id: "documents", caption: "Documents and their chunks", columns, rows, filter: true }));
  };

  /* evidence: [{start, end, label, href}] in code points. */
  faircut.documentPage = async function (place, { data, set, number, options, evidence }) {
    const known = data.documents[number];
    const raw = (await faircut.part(`documents-${set}-${known.pack}`))[number];
    const doc = faircut.decode(raw);
    const points = (p) => (p === null || p === "" ? null : doc.unit(Number(p)));
    const marks = evidence.map((e) => ({ ...e, start: doc.unit(e.start), end: doc.unit(e.end) }));
    const viewer = faircut.lanes({
      document: doc,
      labels: data.rows.map((r) => r.label),
      controls: data.rows.map((r) => r.control),
      evidence: marks,
      active: Number(options.get("lane")) || 0,
      at: points(options.get("at")),
      end: points(options.get("end")),
      onLane: (lane) => {
        const asked = new URLSearchParams(faircut.address(location.hash).options);
        asked.set("lane", String(lane));
        history.replaceState(null, "", faircut.link("document", known.id, Object.fromEntries(asked)));
      },
    });
    const kinds = {};
    for (const b of doc.blocks) kinds[b.kind] = (kinds[b.kind] || 0) + 1;
    const facts = [
      `${faircut.whole(known.characters)} characters`, doc.language ? `language ${doc.language}` : null,
      ...["table", "code"].filter((k) => kinds[k]).map((k) => faircut.plural(kinds[k], k === "code" ? "code block" : k)),
      evidence.length ? faircut.plural(evidence.length, "piece") + " of evidence, underlined" : null,
    ].filter(Boolean);
    place.replaceChildren(
      faircut.heading(known.title || known.id),
      el("p", { class: "over" }, known.title && known.title !== known.id ? [faircut.outside(known.id), " \u00b7 "] : null, faircut.outside(facts.join(" \u00b7 "))),
      viewer.node);
    return viewer;
  };
})();
