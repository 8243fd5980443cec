/* Tables that sort, filter, turn pages and save themselves as CSV and JSON. Works on tables of the template and on tables
   made here; a cell's data-value is what is sorted and saved, its text what is read. */
"use strict";
(function () {
  const { el } = faircut;
  const PAGE = 200;

  /* A table as an element.
     columns: [{name, number, help}]; rows: [[cell]]; a cell is a string, a number, a node, or {show, value}. */
  faircut.table = function ({ id, caption, columns, rows, filter, label }) {
    const head = columns.map((c) =>
      el("th", { scope: "col", class: c.number ? "number" : null, title: c.help || null }, c.node || c.name));
    const table = el("table", {}, el("caption", { class: "hidden" }, caption), el("thead", {}, el("tr", {}, head)), el("tbody", {}));
    const wrap = el("div", { class: "table", data: { table: id } },
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label || caption }, table));
    const names = columns.map((c) => c.name);
    live(wrap, names, rows.map((cells) => lazy(cells, columns)), filter);
    return wrap;
  };

  /* A row whose cells become elements when they are shown. */
  function lazy(cells, columns) {
    const values = cells.map((c) => (c !== null && typeof c === "object" && "value" in c ? c.value : c instanceof Node ? c.textContent : c));
    let node = null;
    return {
      values,
      get node() {
        node ??= el("tr", {}, cells.map((c, i) => {
          const show = c !== null && typeof c === "object" && "show" in c ? c.show() : c;
          const shown = typeof show === "string" ? faircut.outside(show) : show === null || show === undefined ? "" : typeof show === "number" ? show.toLocaleString("en", { maximumFractionDigits: 4 }) : show;
          return i === 0 ? el("th", { scope: "row", class: columns[i].number ? "number" : null }, shown)
            : el("td", { class: columns[i].number ? "number" : null }, shown);
        }));
        return node;
      },
    };
  }

  /* A table of the template, made live. */
  faircut.upgrade = function (wrap) {
    const heads = [...wrap.querySelectorAll("thead th")];
    const numbers = heads.map((h) => h.classList.contains("number"));
    const rows = [...wrap.querySelectorAll("tbody tr")].map((node) => ({
      node,
      values: [...node.children].map((cell, i) => {
        const value = cell.dataset.value ?? cell.textContent;
        return numbers[i] && value !== "" ? Number(value) : value;
      }),
    }));
    live(wrap, heads.map((h) => h.textContent), rows, wrap.hasAttribute("data-filter"));
  };

  function live(wrap, names, rows, filter) {
    const state = { rows, shown: rows, sort: -1, down: false, text: "", page: 0 };
    const body = wrap.querySelector("tbody");
    const caption = wrap.querySelector("caption").textContent;
    const heads = [...wrap.querySelectorAll("thead th")];
    const pages = el("div", { class: "turn" });

    heads.forEach((head, i) => {
      const inside = [...head.childNodes];
      const button = el("button", { type: "button", class: "sort" }, inside);
      head.append(button);
      button.addEventListener("click", () => {
        state.down = state.sort === i ? !state.down : typeof firstValue(rows, i) === "number";
        state.sort = i;
        heads.forEach((h, j) => (j === i ? h.setAttribute("aria-sort", state.down ? "descending" : "ascending") : h.removeAttribute("aria-sort")));
        fill();
      });
    });

    function fill() {
      const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
      state.shown = state.rows.filter((row) => {
        if (!words.length) return true;
        const all = row.values.join(" ").toLowerCase();
        return words.every((w) => all.includes(w));
      });
      if (state.keep) state.shown = state.shown.filter((row, i) => state.keep(row.values, row));
      if (state.sort >= 0) state.shown = sorted(state.shown, state.sort, state.down);
      const last = Math.max(0, Math.ceil(state.shown.length / PAGE) - 1);
      state.page = Math.min(state.page, last);
      body.replaceChildren(...state.shown.slice(state.page * PAGE, (state.page + 1) * PAGE).map((row) => row.node));
      turn(last);
    }

    function turn(last) {
      pages.replaceChildren();
      if (!last) return;
      const move = (by) => () => { state.page += by; fill(); faircut.announce(`${caption}: page ${state.page + 1} of ${last + 1}`); };
      pages.append(
        el("button", { type: "button", disabled: state.page === 0, on: { click: move(-1) } }, "Previous"),
        el("span", {}, `rows ${faircut.whole(state.page * PAGE + 1)} to ${faircut.whole(Math.min(state.shown.length, (state.page + 1) * PAGE))} of ${faircut.whole(state.shown.length)}`),
        el("button", { type: "button", disabled: state.page === last, on: { click: move(1) } }, "Next"));
    }

    const tools = el("div", { class: "tools" }, el("span", { class: "title", "aria-hidden": "true" }, caption));
    if (filter) {
      const box = el("input", { type: "search", "aria-label": `Filter: ${caption}`, placeholder: "Filter" });
      let waiting = 0;
      box.addEventListener("input", () => {
        clearTimeout(waiting);
        waiting = setTimeout(() => {
          state.text = box.value;
          state.page = 0;
          fill();
          faircut.announce(`${faircut.plural(state.shown.length, "row")} of ${faircut.whole(state.rows.length)}`);
        }, 80);
      });
      tools.append(box);
    }
    const save = (kind, make) => el("button", {
      type: "button", class: "quiet", "aria-label": `Save as ${kind}: ${caption}`,
      on: { click: () => faircut.save(`${wrap.dataset.table}.${kind.toLowerCase()}`, make(names, state.shown.map((r) => r.values))) },
    }, kind);
    tools.append(el("span", { class: "saves" }, save("CSV", csv), save("JSON", json)));
    wrap.prepend(tools);
    wrap.append(pages);
    wrap.narrow = (keep) => { state.keep = keep; state.page = 0; fill(); return state.shown.length; };
    fill();
  }

  function firstValue(rows, i) {
    const row = rows.find((r) => r.values[i] !== "" && r.values[i] !== null && r.values[i] !== undefined);
    return row ? row.values[i] : "";
  }

  function sorted(rows, i, down) {
    const empty = (v) => v === "" || v === null || v === undefined;
    const order = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
    return [...rows].sort((a, b) => {
      const [x, y] = [a.values[i], b.values[i]];
      if (empty(x) || empty(y)) return empty(x) - empty(y);  // what is not known comes last either way
      return down ? order(y, x) : order(x, y);
    });
  }

  /* ---------------------------------------------------------- files */

  /* Words that a spreadsheet would take for a formula get an apostrophe. */
  function field(value) {
    if (value === null || value === undefined) return "";
    if (typeof value === "number") return String(value);
    const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  const csv = (names, rows) => [names, ...rows].map((row) => row.map(field).join(",")).join("\r\n") + "\r\n";
  const json = (names, rows) =>
    JSON.stringify(rows.map((row) => Object.fromEntries(row.map((v, i) => [names[i], v === "" ? null : v]))), null, 1) + "\n";

  faircut.save = function (name, text) {
    const url = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
    const a = el("a", { href: url, download: name });
    document.body.append(a);
    a.click();
    a.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  };

  document.querySelectorAll(".table[data-table]").forEach(faircut.upgrade);
})();
