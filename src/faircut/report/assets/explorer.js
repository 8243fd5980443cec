/* The page of one document: chunkers as forms, their cuts as lanes that move with them, and questions to the chunks.
   Only what changed is asked of the server, a moment after the last movement; what is not wanted any more is dropped. */
"use strict";
(function () {
  const { el } = faircut;
  const place = document.getElementById("explorer");
  const setup = JSON.parse(place.dataset.setup);
  const address = place.dataset.document;
  const by = (id) => document.getElementById(id);
  const WAIT = 140;
  const NOTHING = { starts: [], lengths: [], tokens: [] };
  const known = new Map();  // spec as sent -> {spec, form, lane} or {problem}
  let rows = [], raw = null, viewer = null, cutting = null, asking = null, timer = 0, asked = null, shown = "";

  /* ------------------------------------------------------------ talking */

  function fail(said, place = "problem") {
    by(place).textContent = said ? faircut.visible(said) : "";
    by(place).hidden = !said;
  }

  function progress(said) {
    by("doing").textContent = said ? `${said.doing} \u00b7 ${faircut.whole(said.done)} of ${faircut.whole(said.total)}` : "";
    by("bar").hidden = !said;
    if (said) by("bar").value = said.total ? said.done / said.total : 0;
  }

  /* Post, and call `take` with each line of the answer as it comes. Throws what the server refused. */
  async function stream(path, value, control, take) {
    const answer = await fetch(address + path, {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(value), signal: control.signal,
    });
    if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).error || `The explorer answered with ${answer.status}.`);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let kept = "";
    for (;;) {
      const { done, value: part } = await reader.read();
      kept += part || "";
      const lines = kept.split("\n");
      kept = lines.pop();
      for (const line of lines) {
        const said = JSON.parse(line);
        if (said.is === "failed") throw new Error(said.reason);
        take(said);
      }
      if (done) return;
    }
  }

  const words = (error) => (error instanceof TypeError ? "The explorer does not answer; is it still running in the terminal?" : error.message);

  /* ------------------------------------------------------------ cutting */

  async function cut() {
    cutting?.abort();
    const control = (cutting = new AbortController());
    const wanted = [...new Set(rows.map((r) => r.spec))].filter((s) => !known.has(s));
    remember();
    try {
      if (wanted.length) {
        const slow = setTimeout(() => { if (!control.signal.aborted && by("bar").hidden) by("doing").textContent = "cutting \u2026"; }, 400);
        try {
          await stream("/cut", { chunkers: wanted }, control, (said) => {
            if (said.is === "progress") progress(said);
            if (said.is === "lane") known.set(wanted[said.row], said.problem ? { problem: said.problem } : said.values);
            if (said.is === "lane" && !control.signal.aborted) draw();
          });
        } finally { clearTimeout(slow); }
      }
      if (control.signal.aborted) return;
      fail("");
      progress(null);
      draw();
      while (known.size > 60) known.delete(known.keys().next().value);
      faircut.announce(rows.map((r, i) => `${faircut.letter(i)}: ${faircut.plural(known.get(r.spec)?.lane?.starts.length || 0, "chunk")}`).join(", "));
      if (asked) ask(false);
    } catch (error) {
      if (control.signal.aborted) return;
      progress(null);
      fail(words(error));
    }
  }

  function soon() {
    clearTimeout(timer);
    timer = setTimeout(cut, WAIT);
  }

  /* The lanes as far as they are known; a row that is being cut keeps the lane that it had. */
  function draw() {
    rows.forEach((row, i) => {
      const found = known.get(row.spec);
      row.letter(i);
      if (!found) return;
      row.take(found);
      row.lane = found.lane || NOTHING;
    });
    if (!rows.every((r) => r.lane)) return;
    const labels = rows.map((r) => known.get(r.spec)?.spec || r.spec);
    const doc = faircut.decode({ ...raw, lanes: rows.map((r) => r.lane) });
    if (viewer && viewer.count === rows.length) viewer.update(doc, labels);
    else {
      const top = viewer ? viewer.node.querySelector(".text").scrollTop : 0;
      viewer = { count: rows.length, ...faircut.lanes({ document: doc, labels, active: Math.max(0, rows.length - 1) }) };
      by("view").replaceChildren(viewer.node);
      if (top) requestAnimationFrame(() => requestAnimationFrame(() => { viewer.node.querySelector(".text").scrollTop = top; }));
    }
    const names = labels.join("\n");
    if (names !== shown) { shown = names; options(labels); }
  }

  function options(labels) {
    for (const [id, first] of [["left", 0], ["right", Math.min(1, labels.length - 1)]]) {
      const select = by(id), before = select.value === "" ? first : Math.min(Number(select.value), labels.length - 1);
      select.replaceChildren(...labels.map((label, i) => el("option", { value: String(i) }, `${faircut.letter(i)} \u00b7 ${faircut.visible(label)}`)));
      select.value = String(before);
    }
  }

  /* ------------------------------------------------------------ rows */

  function add(spec) {
    const row = faircut.chunkerForm({
      offered: setup.offered, spec, most: setup.spec,
      onChange: soon,
      onRemove: () => {
        rows = rows.filter((r) => r !== row);
        row.node.remove();
        settle();
        by("add").focus();
        soon();
      },
    });
    rows.push(row);
    by("rows").append(row.node);
    settle();
  }

  function settle() {
    rows.forEach((row, i) => {
      row.letter(i);
      row.node.querySelector(".remove").hidden = rows.length < 2;
    });
    by("add").disabled = rows.length >= setup.most;
  }

  /* The specs are in the address, so that a page can be loaded again as it was. */
  function remember() {
    const query = new URLSearchParams(rows.map((r) => ["c", r.spec]));
    history.replaceState(null, "", `#${query}`);
  }

  function recalled() {
    const specs = new URLSearchParams(location.hash.slice(1)).getAll("c").filter((s) => s && s.length <= setup.spec);
    return specs.length ? specs.slice(0, setup.most) : setup.first;
  }

  /* ------------------------------------------------------------ asking */

  async function ask(tell) {
    const sides = [...new Set([Number(by("left").value), Number(by("right").value)])].filter((i) => rows[i]);
    const specs = sides.map((i) => rows[i].spec);
    const wrong = sides.filter((i) => known.get(rows[i].spec)?.problem).map(faircut.letter);
    if (tell && wrong.length) fail(`${wrong.join(" and ")} cannot be asked: its spec is wrong. Correct it, or choose another chunker.`, "ask-problem");
    if (!specs.length || wrong.length) return;
    const value = { question: by("question").value, search: by("search").value, budget: Number(by("budget").value), chunkers: specs };
    if (!value.question.trim()) { by("question").focus(); return; }
    const mark = JSON.stringify(value);
    if (!tell && mark === asked) return;
    asked = mark;
    asking?.abort();
    const control = (asking = new AbortController());
    by("answers").classList.add("old");
    const found = [];
    try {
      await stream("/ask", value, control, (said) => {
        if (said.is === "progress") progress(said);
        if (said.is === "answer") found[said.row] = said.values;
      });
      if (control.signal.aborted) return;
      fail("", "ask-problem");
      progress(null);
      by("answers").replaceChildren(...found.map((answer, i) => ranking(sides[i], answer)));
      by("answers").classList.remove("old");
      by("caution").hidden = false;
      faircut.announce(found.map((a, i) => `${faircut.letter(sides[i])}: ${faircut.plural(a.delivered, "chunk")} delivered`).join(", "));
    } catch (error) {
      if (control.signal.aborted) return;
      progress(null);
      fail(words(error), "ask-problem");
    }
  }

  function ranking(row, answer) {
    const list = el("ol", { class: "hits" });
    let inside = true;
    for (const [at, hit] of answer.hits.entries()) {
      if (inside && hit.delivered === "not") {
        inside = false;
        list.append(el("li", { class: "budget" }, `${faircut.whole(answer.tokens)} of ${faircut.whole(answer.budget)} tokens delivered; below: not delivered`));
      }
      list.append(oneHit(row, at, hit));
    }
    return el("section", { class: `ranking c${row % 10}` },
      el("h3", {}, faircut.key(row), faircut.outside(answer.spec)),
      el("p", { class: "over" }, answer.hits.length
        ? `${faircut.whole(answer.delivered)} of ${faircut.plural(answer.chunks, "chunk")} delivered, ${faircut.plural(answer.tokens, "token")}` + (answer.overlong ? `; ${faircut.plural(answer.overlong, "chunk")} longer than the model reads` : "")
        : "No chunk shares a word with the question."),
      list);
  }

  const calm = (text) => faircut.visible(text.trim().replace(/[ \t]*\n\s*/g, "\n"));

  function oneHit(row, at, hit) {
    const part = hit.delivered === "part" ? hit.part : null;
    const unit = faircut.offsets(raw.text);
    const cutOut = (spans) => spans.map(([a, b]) => raw.text.slice(unit(a), unit(b))).join("");
    const all = hit.text ?? cutOut(hit.spans);
    const first = part ? cutOut(part) : all;
    const go = () => {
      viewer.select(row, hit.number);
      by("view").scrollIntoView({ block: "start" });
      viewer.node.querySelector(".text").focus({ preventScroll: true });
    };
    return el("li", { class: hit.delivered === "not" ? "beyond" : "delivered" },
      el("p", { class: "of" }, el("b", {}, String(at + 1)), el("span", { class: "muted" }, "score "), el("span", { class: "score" }, hit.score.toFixed(3)),
        el("button", { type: "button", class: "link", on: { click: go } }, `chunk ${hit.number + 1}`), ` ${faircut.plural(hit.tokens, "token")}`,
        part ? ", delivered in part" : ""),
      hit.context ? el("p", { class: "front" }, faircut.outside(hit.context)) : null,
      el("p", { class: "excerpt", dir: "auto" }, calm(first), part && all.length > first.length ? el("span", { class: "muted" }, " \u2702 ", calm(all.slice(first.length))) : null));
  }

  /* ------------------------------------------------------------ beginning */

  const budget = () => { by("budget-said").textContent = `${faircut.whole(by("budget").value)} tokens`; };
  by("budget").addEventListener("input", budget);
  for (const id of ["budget", "search", "left", "right"]) by(id).addEventListener("change", () => { if (asked) ask(false); });
  by("ask").addEventListener("submit", (event) => { event.preventDefault(); ask(true); });
  document.querySelectorAll("[data-jump]").forEach((link) => link.addEventListener("click", (event) => {
    event.preventDefault();  // the address holds the specs
    by(link.dataset.jump).scrollIntoView({ block: "start" });
    (link.dataset.jump === "view" ? viewer?.node.querySelector(".text") : by("question"))?.focus({ preventScroll: true });
  }));
  const describe = () => { by("offered-what").textContent = setup.offered.find((o) => o.spec === by("offered").value)?.line || ""; };
  by("offered").addEventListener("change", describe);
  by("add").addEventListener("click", () => { add(by("offered").value); soon(); });
  by("offered").append(...setup.offered.map((o) => el("option", { value: o.spec }, o.spec.split("(")[0])));
  describe();

  (async function () {
    try {
      const answer = await fetch(`${address}/text`);
      if (!answer.ok) throw new Error((await answer.json()).error);
      raw = await answer.json();
    } catch (error) { fail(words(error)); return; }
    const kinds = {};
    for (const [kind] of raw.blocks) kinds[kind] = (kinds[kind] || 0) + 1;
    const more = [raw.language ? `language ${raw.language}` : null, ...["heading", "table"].filter((k) => kinds[k]).map((k) => faircut.plural(kinds[k], k)), kinds.code ? faircut.plural(kinds.code, "code block") : null];
    by("facts").textContent = [`${faircut.whole([...raw.text].length)} characters`, ...more.filter(Boolean)].join(" \u00b7 ");
    for (const spec of recalled()) add(spec);
    cut();
  })();
})();
