/* The pages of `faircut view`: a list of documents, and one document with its lanes. */
"use strict";
(function () {
  const place = document.getElementById("made");
  let data = null;

  async function show() {
    data ??= await faircut.part("set-0");
    const { page, id, options } = faircut.address(location.hash);
    const at = data.documents.length === 1 ? 0 : page === "document" ? data.documents.findIndex((d) => d.id === id) : -1;
    if (at < 0) return faircut.documentList(place, data, {});
    await faircut.documentPage(place, { data, set: 0, number: at, options, evidence: [] });
  }

  addEventListener("hashchange", show);
  show();
})();
