/* What all pages share: making elements from text, opening compressed parts, offsets, the theme, hash addresses.
   Text enters the page as text nodes only; nothing here reads markup. */
"use strict";
const faircut = {};

/* An element with properties, attributes and children; strings become text nodes, never markup. */
faircut.el = function (tag, properties, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") node.className = value;
    else if (name === "on") for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
    else if (name === "data") Object.assign(node.dataset, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return node;
};

const CONTROLS =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/* Control and direction characters as signs that can be seen and do nothing; the length stays. */
faircut.visible = (text) =>
  String(text).replace(CONTROLS, (c) => (c < " " ? String.fromCharCode(0x2400 + c.charCodeAt(0)) : "\u25af"));

/* Text from outside: isolated, so that its direction ends with it. */
faircut.outside = (text) => faircut.el("bdi", {}, faircut.visible(text));

faircut.letter = (n) => (n >= 26 ? faircut.letter(Math.floor(n / 26) - 1) : "") + String.fromCharCode(65 + (n % 26));

/* The colour and letter of a row. */
faircut.key = (row) => faircut.el("span", { class: `key c${row % 10}`, "aria-hidden": "true" }, faircut.letter(row));

faircut.colour = (row) => getComputedStyle(document.documentElement).getPropertyValue(`--c${row % 10}`).trim();
faircut.tint = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

faircut.whole = (n) => Math.round(n).toLocaleString("en");
/* A share in percent, never 0 % of what is something nor 100 % of what is not all. */
faircut.percent = (share, digits = 0) => {
  for (let places = digits; places <= Math.max(digits, 2); places++) {
    const shown = (100 * share).toFixed(places);
    if (![0, 100].includes(Number(shown)) || share === 0 || share === 1) return `${shown} %`;
  }
  return share < 0.5 ? "under 0.01 %" : "over 99.99 %";
};
faircut.plural = (n, noun) => `${faircut.whole(n)} ${noun}${n === 1 ? "" : "s"}`;

/* Said to screen readers, once the page has settled. */
faircut.announce = function (text) {
  const place = document.getElementById("announce");
  place.textContent = "";
  setTimeout(() => { place.textContent = text; }, 60);
};

/* ------------------------------------------------------------ parts */

const opened = new Map();

faircut.bytes = function (id) {
  const node = document.getElementById(`part-${id}`);
  if (!node) throw new Error(`the page has no part ${id}`);
  const raw = atob(node.textContent.trim());
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
};

/* The JSON value of a part; the last few are kept. */
faircut.part = function (id) {
  if (!opened.has(id)) {
    opened.set(id, faircut.bytes(id).then(JSON.parse));
    if (opened.size > 60) opened.delete([...opened.keys()].find((k) => !/^(set|figures)/.test(k)));
  }
  return opened.get(id);
};

/* ------------------------------------------------------------ offsets */

/* Offsets in files are code points, those of scripts UTF-16 units: a function from the first to the second. */
faircut.offsets = function (text) {
  const wide = [];
  for (let i = 0, n = 0; i < text.length; i++, n++) {
    const c = text.charCodeAt(i);
    if (c >= 0xd800 && c < 0xdc00 && i + 1 < text.length) { wide.push(n); i++; }
  }
  if (!wide.length) return (p) => p;
  return (p) => p + faircut.below(wide, p);
};

/* How many entries of a sorted list lie below a value. */
faircut.below = function (sorted, value) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
};

/* The last position whose entry is at most a value, -1 where there is none. */
faircut.at = (sorted, value) => faircut.below(sorted, value + 1) - 1;

faircut.sums = function (differences) {
  let sum = 0;
  return differences.map((d) => (sum += d));
};

/* ------------------------------------------------------------ addresses */

/* #/question/ID?set=1 as {page, id, options}. What cannot be read is the first page. */
faircut.address = function (hash) {
  const [path, query] = hash.replace(/^#\/?/, "").split("?");
  const [page, ...rest] = path.split("/");
  let id = "";
  try { id = decodeURIComponent(rest.join("/")); } catch { return { page: "", id: "", options: new URLSearchParams() }; }
  return { page, id, options: new URLSearchParams(query || "") };
};

faircut.link = function (page, id, options) {
  const query = new URLSearchParams(
    Object.entries(options || {}).filter(([, v]) => v !== null && v !== undefined && v !== "")
  ).toString();
  return `#/${page}${id === null || id === undefined ? "" : `/${encodeURIComponent(id)}`}${query ? `?${query}` : ""}`;
};

/* ------------------------------------------------------------ the theme */

faircut.themed = [];

(function () {
  const names = { "": "system", light: "light", dark: "dark" };
  const button = document.getElementById("theme");
  const kept = () => { try { return localStorage.getItem("faircut-theme") || ""; } catch { return ""; } };
  const keep = (value) => { try { localStorage.setItem("faircut-theme", value); } catch { /* a page from disk may not */ } };
  function show(value) {
    if (value in names && value) document.documentElement.dataset.theme = value;
    else delete document.documentElement.dataset.theme;
    if (button) button.textContent = `Theme: ${names[value] || "system"}`;
    faircut.themed.forEach((act) => act());
  }
  let now = kept();
  show(now);
  if (button) button.addEventListener("click", () => {
    now = { "": "dark", dark: "light", light: "" }[now] ?? "";
    keep(now);
    show(now);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => show(now));
  addEventListener("beforeprint", () => show("light"));  // paper is light
  addEventListener("afterprint", () => show(now));
  document.querySelectorAll("[data-skip]").forEach((a) => a.addEventListener("click", (event) => {
    event.preventDefault();
    document.getElementById("main").focus();
  }));
})();
