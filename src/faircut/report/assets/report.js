/* The report's pages by their hash address; back and forward work, the page's heading takes the focus. */
"use strict";
(function () {
  const place = document.getElementById("made");
  const chooser = document.getElementById("set");
  const titles = { overview: "Overview", questions: "Questions", documents: "Documents", integrity: "Integrity", run: "Run", question: "Question", document: "Document" };
  const name = document.title;
  let first = true, turn = 0;

  async function show() {
    const mine = ++turn;
    const { page: asked, id, options } = faircut.address(location.hash);
    const page = asked in titles ? asked : "overview";
    const sets = document.querySelectorAll('.page[data-page="overview"]').length;
    const set = Math.min(Math.max(0, Number(options.get("set")) || 0), sets - 1);
    if (chooser) chooser.value = String(set);
    const made = !["overview", "integrity", "run"].includes(page);
    if (made) {
      await make(page, id, options, set);
      if (mine !== turn) return;
    }
    document.querySelectorAll(".page").forEach((section) => {
      section.hidden = section === place ? !made : made || section.dataset.page !== page || Number(section.dataset.set) !== set;
    });
    const shown = made ? place : document.querySelector(`.page[data-page="${page}"][data-set="${set}"]`);
    const current = { question: "questions", document: "documents" }[page] || page;
    document.querySelectorAll("nav [data-page]").forEach((a) => {
      if (a.dataset.page === current) a.setAttribute("aria-current", "page"); else a.removeAttribute("aria-current");
      a.href = faircut.link(a.dataset.page === "overview" ? "" : a.dataset.page, null, { set: set || null });
    });
    const heading = shown.querySelector("h1");
    document.title = `${page === "overview" ? "" : `${heading?.textContent.slice(0, 80) || titles[page]} \u00b7 `}${name}`;
    if (!first) { scrollTo(0, 0); heading?.focus({ preventScroll: true }); }
    first = false;
    if (page === "overview") faircut.drawFigures(shown);
  }

  async function make(page, id, options, set) {
    const data = await faircut.part(`set-${set}`);
    if (page === "questions") return faircut.questionList(place, data, set, options);
    if (page === "documents") return faircut.documentList(place, data, { set, questions: data.questions });
    const list = page === "question" ? data.questions : data.documents;
    const number = list.findIndex((one) => one.id === id);
    if (number < 0) return missing(page, id);
    if (page === "question") return faircut.questionPage(place, data, set, number);
    return faircut.documentPage(place, { data, set, number, options, evidence: evidenceIn(data, number, set) });
  }

  function evidenceIn(data, number, set) {
    return data.questions.flatMap((q) => q.evidence.filter((e) => e[0] === number && e[1] < e[2]).map(([, start, end]) => ({
      start, end, label: q.text, href: faircut.link("question", q.id, { set: set || null }),
    })));
  }

  function missing(page, id) {
    place.replaceChildren(faircut.heading(`No such ${page}`), faircut.el("p", {}, "This report has none named ", faircut.outside(id), "."));
  }

  if (chooser) chooser.addEventListener("change", () => {
    const { page } = faircut.address(location.hash);
    location.hash = faircut.link(["questions", "documents", "integrity", "run"].includes(page) ? page : "", null, { set: Number(chooser.value) || null });
  });
  document.querySelectorAll("[data-plan]").forEach((plan) => {
    const button = faircut.el("button", { type: "button", class: "quiet", on: { click: () => faircut.save("plan.toml", plan.textContent) } }, "Save plan.toml");
    plan.before(button);
  });
  document.querySelectorAll(".page").forEach((section) => { section.hidden = true; });
  addEventListener("beforeprint", () => document.querySelectorAll(".notes").forEach((notes) => { notes.open = true; }));
  addEventListener("hashchange", show);
  show();
})();
