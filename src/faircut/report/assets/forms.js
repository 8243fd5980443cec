/* One chunker as a form: its spec as text, and its parameters as sliders and choices. Which parameters there are, and
   between which ends, comes from the server; a spec is composed here and read there. */
"use strict";
(function () {
  const { el } = faircut;
  const BEGIN = { t: 256, w: 200, c: 1000, p: 85, share: 0.5, whole: 1 };
  let made = 0;

  const amount = (field) => Number(String(field.value).replace(/^p|[twc]$/g, ""));
  const wayOf = (field) => field.ways.find((w) => w.name === field.way) || field.ways[0];
  const begin = (way) => {  // a size within the first quarter of its range
    const fair = way.low + Math.round((way.high - way.low) / 4 / way.step) * way.step;
    return way.suffix ? Math.min(BEGIN[way.name], fair) : BEGIN[way.name] ?? way.low;
  };
  const isNumber = (way) => way.high > way.low;

  function compose(form) {
    const parts = form.fields
      .filter((f) => f.default === null || f.value !== f.default)
      .map((f) => (f.default === null ? f.value : `${f.name}=${f.value}`));
    return parts.length ? `${form.name}(${parts.join(", ")})` : form.name;
  }

  /* options: offered [{spec, line}], spec, most, onChange(), onRemove(). Answers {node, spec, take(answer), letter(row)}. */
  faircut.chunkerForm = function ({ offered, spec, most, onChange, onRemove }) {
    const id = `chunker-${made++}`;
    const self = { spec, form: null };
    const key = el("span", {});
    const choice = el("select", { "aria-label": "Kind of chunker", on: { change: () => set(choice.value) } });
    const text = el("input", { type: "text", class: "spec", id: `${id}-spec`, maxlength: most, spellcheck: "false", autocomplete: "off", on: { change: () => set(text.value.trim()) } });
    const line = el("p", { class: "what" });
    const said = el("p", { class: "problem", id: `${id}-said`, role: "alert", hidden: true });
    const fields = el("div", { class: "fields" });
    const count = el("p", { class: "count" });
    const remove = el("button", { type: "button", class: "quiet remove", on: { click: onRemove } }, "Remove");
    const node = el("fieldset", { class: "chunker" },
      el("legend", { class: "hidden" }, "Chunker"),
      el("div", { class: "head" }, key, choice, remove), line, count, fields,
      el("label", { class: "spec-label", for: `${id}-spec` }, "spec, as on the command line"), text, said);

    function set(value) {
      if (!value || value === self.spec) return;
      self.spec = value;
      text.value = value;
      onChange();
    }

    function show() {
      text.value = self.spec;
      const name = self.form ? self.form.name : self.spec.split("(")[0];
      const known = offered.find((o) => o.spec === self.spec) || offered.find((o) => o.spec.split("(")[0] === name);
      choice.replaceChildren(...offered.map((o) => el("option", { value: o.spec }, o.spec.split("(")[0])));
      if (known) choice.value = known.spec;
      else choice.prepend(el("option", { value: self.spec, selected: true }, "other"));
      line.textContent = known ? known.line : "";
    }

    /* A parameter: a way to give it where there are several, and a slider, a choice or a text. */
    function control(field, place) {
      const label = `${id}-${field.name}`;
      const holder = el("div", { class: "field" });
      function draw(focus) {
        const way = wayOf(field);
        const change = (value) => { field.value = value; update(); };
        const output = el("output", { for: label });
        let input;
        if (way.choices.length) {
          input = el("select", { id: label, on: { change: () => change(input.value) } }, way.choices.map((c) => el("option", { value: c }, { true: "yes", false: "no" }[c] || c)));
          input.value = field.value;
        } else if (isNumber(way)) {
          const now = amount(field);
          input = el("input", { type: "range", id: label, min: Math.min(way.low, now), max: Math.max(way.high, now), step: way.step, on: { input: () => { tell(); change(`${way.prefix}${input.value}${way.suffix}`); } } });
          input.value = String(now);
          const words = { t: " tokens", w: " words", c: " characters" }[way.suffix] || "";
          const tell = () => {
            output.textContent = `${way.prefix}${Number(input.value).toLocaleString("en")}${way.suffix}`;
            input.setAttribute("aria-valuetext", `${way.prefix === "p" ? "percentile " : ""}${input.value}${words}`);
          };
          tell();
        } else {
          input = el("input", { type: "text", id: label, spellcheck: "false", maxlength: "200", on: { change: () => change(input.value.trim()) } });
          input.value = field.value;
        }
        const units = field.ways.length < 2 ? null : el("select", { class: "unit", "aria-label": `Unit of ${field.label}` }, field.ways.map((w) => el("option", { value: w.name }, w.label)));
        if (units) {
          units.value = way.name;
          units.addEventListener("change", () => {
            field.way = units.value;
            const next = wayOf(field);
            field.value = next.choices.length ? next.choices[0] : isNumber(next) ? `${next.prefix}${begin(next)}${next.suffix}` : "";
            draw(true);
            if (field.value) update();
          });
        }
        const alone = way.choices.length === 1;
        holder.replaceChildren(el("label", { for: alone ? null : label }, field.label), alone ? el("span", { class: "none" }) : input, isNumber(way) ? output : el("span", {}), units || el("span", {}));
        if (focus && units) units.focus();
      }
      draw(false);
      place.append(holder);
    }

    function update() {
      self.spec = compose(self.form);
      text.value = self.spec;
      onChange();
    }

    const shape = (form) => JSON.stringify([form.name, form.fields.map((f) => [f.name, f.way])]);
    const values = (form) => JSON.stringify(form.fields.map((f) => f.value));

    /* What the server says of the spec that it was sent: the form of it, or what is wrong. */
    self.take = function ({ form, lane, problem }) {
      const sizes = [...(lane?.tokens || [])].sort((a, b) => a - b);
      count.replaceChildren(...(!lane ? [] : !sizes.length ? ["no chunk"] : [
        `${faircut.plural(sizes.length, "chunk")}, median ${faircut.plural(sizes[sizes.length >> 1], "token")} `,
        el("span", { class: "muted" }, `(${faircut.whole(sizes[0])}\u2013${faircut.whole(sizes[sizes.length - 1])})`)]));
      said.hidden = !problem;
      said.textContent = problem ? faircut.visible(problem) : "";
      text.setAttribute("aria-invalid", problem ? "true" : "false");
      text.setAttribute("aria-describedby", problem ? said.id : "");
      if (form && (!self.form || shape(form) !== shape(self.form) || values(form) !== values(self.form))) {
        self.form = structuredClone(form);
        const open = fields.querySelector("details")?.open;
        const held = document.activeElement?.id;
        fields.replaceChildren();
        const inFront = (f, i) => i < 3 || f.name === "max" || f.value !== f.default;  // what was chosen is never hidden
        self.form.fields.filter(inFront).forEach((f) => control(f, fields));
        const rest = self.form.fields.filter((f, i) => !inFront(f, i));
        if (rest.length) {
          const more = el("details", { open: open || null }, el("summary", {}, `${rest.length} more`));
          rest.forEach((f) => control(f, more));
          fields.append(more);
        }
        if (held && fields.querySelector(`#${CSS.escape(held)}`)) document.getElementById(held).focus();
      }
      show();
    };
    self.letter = function (row) {
      key.replaceChildren(faircut.key(row));
      node.className = `chunker c${row % 10}`;
      node.querySelector("legend").textContent = `Chunker ${faircut.letter(row)}`;
      remove.setAttribute("aria-label", `Remove chunker ${faircut.letter(row)}`);
    };
    self.node = node;
    show();
    return self;
  };
})();
