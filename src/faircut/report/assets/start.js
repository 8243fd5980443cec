/* The explorer's first page: a file dropped or chosen, a text pasted, a document of the list; each leads to its page. */
"use strict";
(function () {
  const start = document.getElementById("start");
  const problem = document.getElementById("problem");
  const busy = document.getElementById("busy");
  const drop = document.getElementById("drop");
  const file = document.getElementById("file");
  const limit = Number(start.dataset.limit);

  function fail(said) {
    problem.textContent = faircut.visible(said);
    problem.hidden = false;
    busy.textContent = "";
  }

  /* Send, and answer with what came back; null when it was refused, which is told. */
  async function send(address, options) {
    problem.hidden = true;
    try {
      const answer = await fetch(address, { method: "POST", ...options });
      const said = await answer.json().catch(() => ({}));
      if (answer.ok) return said;
      fail(said.error || `The explorer answered with ${answer.status}.`);
    } catch {
      fail("The explorer does not answer; is it still running in the terminal?");
    }
    return null;
  }

  const sendJson = (address, value) =>
    send(address, { headers: { "content-type": "application/json" }, body: JSON.stringify(value) });

  const megabytes = (n) => (n / 1e6).toLocaleString("en", { maximumFractionDigits: 1 });

  async function upload(files) {
    let last = null;
    for (const one of files) {
      if (one.size > limit) {
        fail(`${one.name} has ${megabytes(one.size)} MB; a file may have up to ${start.dataset.limitWords} here. faircut view takes larger ones.`);
        return;
      }
      busy.textContent = `Reading ${faircut.visible(one.name)} \u2026`;
      last = await send(`/documents?name=${encodeURIComponent(one.name)}`, {
        headers: { "content-type": "application/octet-stream" }, body: one,
      });
      if (!last) return;
    }
    if (last) location.assign(files.length > 1 ? "/" : last.address);
  }

  file.addEventListener("change", () => { upload([...file.files]).finally(() => { file.value = ""; }); });
  for (const event of ["dragover", "drop"]) addEventListener(event, (e) => e.preventDefault());
  addEventListener("dragover", () => drop.classList.add("over-it"));
  addEventListener("dragleave", (e) => { if (!e.relatedTarget) drop.classList.remove("over-it"); });
  addEventListener("drop", (e) => {
    drop.classList.remove("over-it");
    const files = [...(e.dataTransfer?.files || [])];
    if (files.length) upload(files);
    else if (e.dataTransfer?.getData("text")) document.getElementById("text").value = e.dataTransfer.getData("text");
  });

  document.getElementById("paste").addEventListener("submit", async (event) => {
    event.preventDefault();
    const kind = document.getElementById("markdown").checked ? "text/markdown" : "text/plain";
    const opened = await sendJson("/texts", { text: document.getElementById("text").value, kind });
    if (opened) location.assign(opened.address);
  });
  document.getElementById("sample").addEventListener("click", async () => {
    const text = document.getElementById("text");
    text.value = await (await fetch("/static/sample.md")).text();
    text.focus();
    text.setSelectionRange(0, 0);
    text.scrollTop = 0;
  });

  document.querySelectorAll("[data-shared]").forEach((button) => button.addEventListener("click", async () => {
    button.disabled = true;
    const opened = await sendJson("/shared", { number: Number(button.dataset.shared) });
    button.disabled = false;
    if (opened) location.assign(opened.address);
  }));
  document.querySelectorAll("[data-forget]").forEach((button) => button.addEventListener("click", async () => {
    const answer = await fetch(button.dataset.forget, { method: "DELETE" }).catch(() => null);
    if (answer && (answer.ok || answer.status === 404)) {
      button.closest("li").remove();
      faircut.announce("Forgotten");
      document.getElementById("main").focus();
    } else fail("It could not be forgotten; is faircut still running in the terminal?");
  }));
})();
