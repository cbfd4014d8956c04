"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

// The states of a cell: its name, its sign in the legend, and what the legend says.
const STATES = [
  ["agree", "✓", "all agree"],
  ["share", "76", "of 100 agree; the others are known divergences"],
  ["share crash", "76†", "some of these are crashes"],
  ["unexpected", "!", "some are unexpected"],
  ["new", "?", "some are new behaviour, of a version that was not recorded"],
  ["part", "✓", "all that ran agree; it does not offer the others"],
  ["unsupported", "–", "asked, and it does not offer this"],
  ["skipped", "s", "skipped: it could not be asked"],
  ["blank", "", "blank: nothing was asked; it has no such operator, or this run no such case for it"],
];
const WRONG = { differ: "other values", error: "error", crash: "crash" };
const LISTS = ["unexpected", "new"]; // what no divergence lists, whatever the outcome

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const number = (count) => count.toLocaleString("en");
const plural = (count, one, many = one + "s") => `${number(count)} ${count === 1 ? one : many}`;

// ---- filtering and counting

function chosen() {
  return { peer: byId("peer").value, dtype: byId("dtype").value, outcome: byId("outcome").value };
}

function add(counts, more) {
  for (const [name, count] of Object.entries(more)) counts[name] = (counts[name] || 0) + count;
}

/** Cells of the file that belong to one cell of the table, added up. */
function merge(cells) {
  const sum = { counts: {}, unexpected: 0, new: 0, known: {}, reasons: {}, examples: [] };
  for (const cell of cells) {
    add(sum.counts, cell.counts);
    sum.unexpected += cell.unexpected;
    sum.new += cell.new;
    add(sum.known, cell.known);
    add(sum.reasons, cell.reasons);
    sum.examples.push(...cell.examples);
  }
  sum.total = Object.values(sum.counts).reduce((a, b) => a + b, 0);
  sum.agree = sum.counts.agree || 0;
  sum.ran = sum.total - (sum.counts.unsupported || 0) - (sum.counts.skipped || 0);
  return sum;
}

/** How a cell looks under the filter: its state, its sign and what it says; null if it has nothing to show. */
function look(sum, outcome, row) {
  if (outcome !== "") return onlyOf(sum, outcome);
  const idle = sum.total - sum.ran;
  const notRun = idle && sum.ran ? `; ${number(idle)} not run` : "";
  const kinds = Object.keys(WRONG).filter((name) => sum.counts[name]).map((name) => WRONG[name]);
  const share = `${number(sum.agree)} of ${number(sum.ran)} ${row.refused ? "refused" : "agree"}`;
  if (sum.unexpected) return { state: "unexpected", sign: "!", says: `${number(sum.unexpected)} unexpected; ${share}${notRun}` };
  if (sum.new) return { state: "new", sign: "?", says: `${number(sum.new)} new; ${share}${notRun}` };
  if (sum.ran === 0) return sum.counts.unsupported ? { state: "unsupported", sign: "–", says: "not offered" } : { state: "skipped", sign: "s", says: "skipped" };
  if (sum.agree === sum.ran) return { state: idle ? "part" : "agree", sign: "✓", says: (row.refused ? "refused" : "agrees") + notRun };
  const crash = sum.counts.crash ? " crash" : "";
  return { state: "share" + crash, sign: percent(sum) + (crash && "†"), says: `${share}; known divergences: ${kinds.join(", ")}${notRun}` };
}

/** The share that agrees, rounded down: what is not all is not 100. */
const percent = (sum) => (sum.agree && sum.agree * 100 < sum.ran ? "<1" : String(Math.floor((100 * sum.agree) / sum.ran)));

/** Under a filter of outcomes a cell counts them. */
function onlyOf(sum, outcome) {
  const count = LISTS.includes(outcome) ? sum[outcome] : sum.counts[outcome];
  if (!count) return null;
  const state = outcome in WRONG ? "share count" : outcome;
  return { state, sign: number(count), says: `${number(count)} ${outcome}` };
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

/** The cells of the file by row and column of the table. */
function grouped(filter) {
  const groups = new Map();
  for (const cell of data.cells) {
    if (filter.peer !== "" && cell.peer !== Number(filter.peer)) continue;
    if (filter.dtype !== "" && cell.dtype !== Number(filter.dtype)) continue;
    const key = `${cell.row}/${filter.peer === "" ? cell.peer : cell.dtype}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(cell);
  }
  return groups;
}

function draw() {
  const filter = chosen();
  const groups = grouped(filter);
  const all = columns(filter);
  const made = data.rows.map((row, index) =>
    all.map((column) => {
      const parts = groups.get(`${index}/${column.key}`);
      return parts ? cellButton(merge(parts), filter, row, column) : null;
    }),
  );
  const used = all.map((column, i) => filter.outcome === "" || made.some((buttons) => buttons[i]));
  const across = all.filter((column, i) => used[i]);
  const width = `--columns: ${across.length}`;
  const table = element("table", { class: "grid", role: "grid", "aria-labelledby": "matrix-title", "aria-describedby": "hint", style: width });
  const titles = across.map((column) => element("th", { scope: "col" }, element("span", {}, column.title)));
  table.append(element("thead", {}, element("tr", {}, element("th", {}, "operator, mode"), ...titles)));
  const body = table.appendChild(element("tbody"));
  grid = [];
  let shown = 0;
  let before = null;
  for (const [index, row] of data.rows.entries()) {
    const buttons = made[index].filter((button, i) => used[i]);
    if (!buttons.some((button) => button)) continue;
    shown += buttons.filter((button) => button).length;
    const cells = buttons.map((button) => element("td", {}, button || ""));
    body.append(element("tr", row.op === before ? {} : { class: "first" }, rowHead(row), ...cells));
    before = row.op;
    grid.push(buttons);
  }
  const first = grid.flat().find((button) => button);
  if (first) first.tabIndex = 0;
  byId("matrix").replaceChildren(...(first ? [table] : []));
  byId("shown").textContent = first ? plural(shown, "cell") : "No cell has such results.";
}

function rowHead(row) {
  return element("th", { scope: "row" }, element("span", { class: "op" }, row.op), " ", element("span", { class: "mode" }, row.mode || '""'));
}

function cellButton(sum, filter, row, column) {
  const seen = look(sum, filter.outcome, row);
  if (seen === null) return null;
  const title = filter.peer === "" ? column.title : `${data.peers[column.peer].title}, ${column.title}`;
  const label = `${title}, ${row.op} ${row.mode}: ${seen.says}; ${plural(sum.total, "result")}`;
  const share = sum.ran ? (100 * sum.agree) / sum.ran : 0;
  const about = { type: "button", class: `sign ${seen.state}`, tabindex: -1, "aria-label": label, title: label, style: `--share: ${share}%` };
  const button = element("button", about, seen.sign);
  button.setAttribute("aria-haspopup", "dialog");
  button.addEventListener("click", () => open(`${title} · ${row.op} ${row.mode}`, sum, filter));
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

// ---- the page

function fill(id, all, names) {
  byId(id).append(element("option", { value: "" }, all));
  for (const [value, name] of names) byId(id).append(element("option", { value }, name));
  byId(id).addEventListener("change", draw);
}

fill("peer", "all", data.peers.map((peer, index) => [index, peer.title]));
fill("dtype", "all", [...data.dtypes.entries()]);
fill("outcome", "all", ["unexpected", "new", "crash", "differ", "error", "agree", "unsupported", "skipped"].map((name) => [name, name]));
for (const [name, sign, says] of STATES) {
  byId("legend").append(element("li", {}, element("span", { class: `sign ${name}`, "aria-hidden": "true", style: "--share: 76%" }, sign), says));
}
byId("signs").open = matchMedia("(min-width: 40rem)").matches; // on a telephone they would fill the screen
byId("filters").addEventListener("submit", (event) => event.preventDefault());
byId("matrix").addEventListener("keydown", move);
byId("close").addEventListener("click", () => byId("cases").close());
draw();
