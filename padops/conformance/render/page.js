"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

// The states of a cell, the gravest first: what decides, the sign, and what the legend says.
const STATES = [
  ["unexpected", "!", "unexpected"],
  ["crash", "C", "known divergence: crash"],
  ["differ", "D", "known divergence: other values"],
  ["error", "E", "known divergence: error"],
  ["agree", "✓", "agrees"],
  ["part", "✓", "agrees; part of it is not run"],
  ["unsupported", "–", "not offered"],
  ["skipped", "s", "skipped"],
];
const SIGNS = new Map(STATES.map(([name, sign, says]) => [name, { sign, says }]));

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const plural = (count, one, many = one + "s") => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

// ---- filtering and counting

function chosen() {
  return { peer: byId("peer").value, dtype: byId("dtype").value, outcome: byId("outcome").value };
}

function add(counts, more) {
  for (const [name, count] of Object.entries(more)) counts[name] = (counts[name] || 0) + count;
}

/** Cells of the file that belong to one cell of the table, added up. */
function merge(cells) {
  const sum = { counts: {}, unexpected: 0, known: {}, reasons: {}, examples: [] };
  for (const cell of cells) {
    add(sum.counts, cell.counts);
    sum.unexpected += cell.unexpected;
    add(sum.known, cell.known);
    add(sum.reasons, cell.reasons);
    sum.examples.push(...cell.examples);
  }
  return sum;
}

/** The state of a cell under the filter, or null if it has nothing to show. */
function state(sum, outcome) {
  if (outcome === "unexpected") return sum.unexpected ? "unexpected" : null;
  const has = (name) => (outcome === "" || outcome === name) && sum.counts[name] > 0;
  if (outcome === "" && sum.unexpected) return "unexpected";
  for (const name of ["crash", "differ", "error"]) if (has(name)) return name;
  if (has("agree")) return outcome === "" && (sum.counts.unsupported || sum.counts.skipped) ? "part" : "agree";
  return has("unsupported") ? "unsupported" : has("skipped") ? "skipped" : null;
}

// ---- the matrix

let grid = []; // buttons by row and column; null where there is none

function columns(filter) {
  if (filter.peer === "") return data.peers.map((peer, index) => ({ key: index, title: peer.title, peer: index }));
  const peer = Number(filter.peer);
  const used = new Set(data.cells.filter((cell) => cell.peer === peer).map((cell) => cell.dtype));
  return data.dtypes
    .map((title, index) => ({ key: index, title, peer }))
    .filter((column) => used.has(column.key) && (filter.dtype === "" || Number(filter.dtype) === column.key));
}

function draw() {
  const filter = chosen();
  const across = columns(filter);
  const groups = new Map();
  for (const cell of data.cells) {
    if (filter.peer !== "" && cell.peer !== Number(filter.peer)) continue;
    if (filter.dtype !== "" && cell.dtype !== Number(filter.dtype)) continue;
    const key = `${cell.row}/${filter.peer === "" ? cell.peer : cell.dtype}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(cell);
  }
  const width = `--columns: ${across.length}`;
  const table = element("table", { class: "grid", role: "grid", "aria-labelledby": "matrix-title", "aria-describedby": "hint", style: width });
  const titles = across.map((column) => element("th", { scope: "col" }, element("span", {}, column.title)));
  table.append(element("thead", {}, element("tr", {}, element("th", {}, "operator, mode"), ...titles)));
  const body = element("tbody");
  table.append(body);
  grid = [];
  let shown = 0;
  let before = null;
  for (const [index, [op, mode]] of data.rows.entries()) {
    const buttons = [];
    const cells = across.map((column) => {
      const parts = groups.get(`${index}/${column.key}`);
      const button = parts ? cellButton(merge(parts), filter, op, mode, column) : null;
      buttons.push(button);
      return element("td", {}, button || "");
    });
    if (!buttons.some((button) => button)) continue;
    shown += buttons.filter((button) => button).length;
    const name = element("th", { scope: "row" }, element("span", { class: "op" }, op), " ", element("span", {}, mode || "(no mode)"));
    body.append(element("tr", op === before ? {} : { class: "first" }, name, ...cells));
    before = op;
    grid.push(buttons);
  }
  const first = grid.flat().find((button) => button);
  if (first) first.tabIndex = 0;
  byId("matrix").replaceChildren(...(first ? [table] : []));
  byId("shown").textContent = first ? plural(shown, "cell") : "No cell has such results.";
  for (const entry of document.querySelectorAll("[data-peers]")) {
    entry.hidden = filter.peer !== "" && !entry.dataset.peers.split(" ").includes(filter.peer);
  }
}

function cellButton(sum, filter, op, mode, column) {
  const name = state(sum, filter.outcome);
  if (name === null) return null;
  const { sign, says } = SIGNS.get(name);
  const title = filter.peer === "" ? column.title : `${data.peers[column.peer].title}, ${column.title}`;
  const total = Object.values(sum.counts).reduce((a, b) => a + b, 0);
  const label = `${title}, ${op} ${mode || "(no mode)"}: ${says}; ${plural(total, "result")}`;
  const button = element("button", { type: "button", class: `sign ${name}`, tabindex: -1, "aria-label": label, title: label }, sign);
  button.setAttribute("aria-haspopup", "dialog");
  button.addEventListener("click", () => open(`${title} · ${op} ${mode || "(no mode)"}`, sum, filter));
  return button;
}

const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };

/** The button to go to from a place: the next one in that direction, past empty places. */
function target(row, column, key) {
  const rowButtons = grid[row].filter((button) => button);
  if (key === "Home") return rowButtons[0];
  if (key === "End") return rowButtons[rowButtons.length - 1];
  const [down, right] = STEPS[key];
  for (let r = row + down, c = column + right; grid[r] && c >= 0 && c < grid[r].length; r += down, c += right) {
    if (grid[r][c]) return grid[r][c];
  }
  return null;
}

function move(event) {
  if (!(event.key in STEPS) && event.key !== "Home" && event.key !== "End") return;
  const row = grid.findIndex((buttons) => buttons.includes(event.target));
  if (row < 0) return;
  event.preventDefault();
  const next = target(row, grid[row].indexOf(event.target), event.key);
  if (!next) return;
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
  // The head of the table and the names of the rows lie over what scrolls beneath them.
  next.scrollIntoView({ block: "center", inline: "center" });
}

// ---- what is behind a cell

function open(title, sum, filter) {
  const shows = (example) =>
    filter.outcome === "" || (filter.outcome === "unexpected" ? example.unexpected : example.outcome === filter.outcome);
  const examples = sum.examples.map((index) => data.examples[index]).filter(shows);
  const parts = [countLine(sum)];
  if (filter.outcome !== "") parts.push(element("p", { class: "quiet" }, `Cases: only those filtered by “${filter.outcome}”.`));
  const unexpected = examples.filter((example) => example.unexpected);
  if (unexpected.length) {
    parts.push(element("h3", {}, "Unexpected"), ...cases(unexpected, sum.unexpected));
  }
  for (const [index, count] of Object.entries(sum.known)) {
    const own = examples.filter((example) => !example.unexpected && example.divergence === Number(index));
    if (own.length || filter.outcome === "") parts.push(...divergence(data.divergences[index], count), ...cases(own, count));
  }
  const reasons = Object.entries(sum.reasons);
  if (reasons.length) {
    const rows = reasons.map(([index, count]) => element("li", {}, `${data.texts[index]} (${count.toLocaleString("en")})`));
    parts.push(element("h3", {}, "Not run"), element("ul", {}, ...rows));
  }
  byId("cases-title").textContent = title;
  byId("cases-body").replaceChildren(...parts);
  byId("cases").showModal();
  byId("cases").scrollTop = 0;
  byId("close").focus();
}

function countLine(sum) {
  const parts = Object.entries(sum.counts).map(([name, count]) => `${count.toLocaleString("en")} ${name}`);
  return element("p", {}, parts.join(", ") + (sum.unexpected ? `; ${sum.unexpected.toLocaleString("en")} unexpected` : ""));
}

function divergence(entry, count) {
  const about = [plural(count, "result"), entry.outcome, entry.versions, entry.rule].filter((text) => text).join("; ");
  const link = entry.link ? ["; ", element("a", { href: entry.link, rel: "noreferrer" }, "upstream")] : [];
  return [element("h3", {}, entry.id), element("p", {}, entry.reason), element("p", { class: "quiet" }, about, ...link)];
}

function list(rows) {
  return element("dl", {}, ...rows.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

const CASES_SHOWN = 40;

function cases(examples, total) {
  const shown = examples.slice(0, CASES_SHOWN);
  if (!shown.length) return [];
  const note = shown.length < total ? [element("p", { class: "quiet" }, `${shown.length} of ${total.toLocaleString("en")}; all are in the JSONL file.`)] : [];
  return [...note, ...shown.map(oneCase)];
}

function oneCase(example) {
  const that = data.cases[example.case];
  const text = (value) => element("pre", {}, value);
  const rows = [];
  if (example.detail) rows.push(["detail", text(data.texts[example.detail])]);
  if (that.rules) rows.push(["rules", that.rules]);
  if (that.attributes) rows.push(["attributes", text(that.attributes)]);
  that.inputs.forEach((input, index) => rows.push([`input ${index}`, text(input)]));
  if (that.expected) rows.push(["expected", text(that.expected)]);
  if (example.got) rows.push(["got", marked(that.expected, data.texts[example.got])]);
  if (example.repro) rows.push(["reproduce", text(example.repro)]);
  const heading = element("summary", {}, element("code", {}, that.id), ` ${example.outcome}`);
  const made = element("details", {}, heading, list(rows));
  return made;
}

/** The peer's output, with the elements marked that are not the expected ones. */
function marked(expected, got) {
  const split = (text) => (text || "").split(/([\s,[\]]+)/);
  const [left, right] = [split(expected), split(got)];
  if (left.length !== right.length) return element("pre", {}, got);
  return element("pre", {}, ...right.map((token, i) => (token === left[i] ? token : element("mark", {}, token))));
}

// ---- the page

function fill(id, all, names) {
  byId(id).append(element("option", { value: "" }, all));
  for (const [value, name] of names) byId(id).append(element("option", { value }, name));
  byId(id).addEventListener("change", draw);
}

fill("peer", "all", data.peers.map((peer, index) => [index, peer.title]));
fill("dtype", "all", [...data.dtypes.entries()]);
fill("outcome", "all", ["unexpected", "crash", "differ", "error", "agree", "unsupported", "skipped"].map((name) => [name, name]));
for (const [name, sign, says] of STATES) {
  byId("legend").append(element("li", {}, element("span", { class: `sign ${name}`, "aria-hidden": "true" }, sign), says));
}
byId("filters").addEventListener("submit", (event) => event.preventDefault());
byId("matrix").addEventListener("keydown", move);
byId("close").addEventListener("click", () => byId("cases").close());
draw();
