// What is behind a cell: its counts, the divergences that were seen there, and cases in full.

const CASES_SHOWN = 40;

function open(title, sum, filter) {
  const shows = (example) =>
    filter.outcome === "" || (LISTS.includes(filter.outcome) ? example[filter.outcome] : example.outcome === filter.outcome);
  const examples = sum.examples.filter(shows);
  const parts = [countLine(sum)];
  if (filter.outcome !== "") parts.push(element("p", { class: "quiet" }, `Cases: only those filtered by “${filter.outcome}”.`));
  const unexpected = examples.filter((example) => example.unexpected);
  if (unexpected.length) parts.push(element("h3", {}, "Unexpected"), ...cases(unexpected, sum.unexpected));
  const recent = examples.filter((example) => example.new);
  if (recent.length) parts.push(element("h3", {}, "New behaviour of a version that was not recorded"), ...cases(recent, sum.new));
  for (const [name, count] of Object.entries(sum.known)) {
    const own = examples.filter((example) => !example.unexpected && !example.new && example.divergence === name);
    if (own.length || filter.outcome === "") parts.push(...divergence(name, count), ...cases(own, count));
  }
  const reasons = Object.entries(sum.reasons);
  if (reasons.length) {
    const rows = reasons.map(([reason, count]) => element("li", {}, `${reason} (${number(count)})`));
    parts.push(element("h3", {}, "Not run"), element("ul", {}, ...rows));
  }
  byId("cases-title").textContent = title;
  byId("cases-body").replaceChildren(...parts);
  byId("cases").showModal();
  byId("cases").scrollTop = 0;
  byId("close").focus();
}

function countLine(sum) {
  const parts = Object.entries(sum.counts).map(([name, count]) => `${number(count)} ${name}`);
  return element("p", {}, parts.join(", ") + LISTS.filter((name) => sum[name]).map((name) => `; ${number(sum[name])} ${name}`).join(""));
}

function divergence(name, count) {
  const entry = data.divergences[name];
  const about = [plural(count, "result"), entry.outcome, entry.versions, entry.rule, name].filter((text) => text).join("; ");
  const link = entry.link ? ["; ", element("a", { href: entry.link, rel: "noreferrer" }, "upstream")] : [];
  return [element("h3", {}, entry.reason), element("p", { class: "quiet" }, about, ...link)];
}

function list(rows) {
  return element("dl", {}, ...rows.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

function cases(examples, total) {
  const shown = examples.slice(0, CASES_SHOWN);
  if (!shown.length) return [];
  const note = shown.length < total ? [element("p", { class: "quiet" }, `${shown.length} of ${number(total)}; all are in the JSONL file.`)] : [];
  return [...note, ...shown.map(oneCase)];
}

function oneCase(example) {
  const that = data.cases[example.case];
  const text = (value) => element("pre", {}, value);
  const rows = [];
  if (example.detail) rows.push([WRONG[example.outcome] || example.outcome, text(example.detail)]);
  that.inputs.forEach(([name, input]) => rows.push([name, text(input)]));
  if (that.attributes) rows.push(["attributes", text(that.attributes)]);
  if (that.expected) rows.push(["expected", text(that.expected)]);
  if (example.got) rows.push(["got", marked(that.expected, example.got)]);
  if (that.rules) rows.push(["rules", that.rules]);
  if (example.repro) rows.push(["reproduce", text(example.repro)]);
  const heading = element("summary", {}, example.case, " ", element("span", { class: "quiet" }, WRONG[example.outcome] || example.outcome));
  return element("details", {}, heading, list(rows));
}

/** The peer's output, with the elements marked that are not the expected ones; its shape where that is another. */
function marked(expected, got) {
  const [head, ...wanted] = (expected || "").split("\n");
  const [gotHead, ...lines] = got.split("\n");
  if (head !== gotHead) return element("pre", {}, element("mark", {}, gotHead), got.slice(gotHead.length));
  const words = wanted.join(" ").split(/[\s[\]]+/).filter((word) => word);
  let place = 0;
  const own = lines.join("\n").split(/([\s[\]]+)/).map((part) => {
    if (/^[\s[\]]*$/.test(part)) return part;
    return words[place++] === part ? part : element("mark", {}, part);
  });
  return element("pre", {}, gotHead, lines.length ? "\n" : "", ...own);
}
