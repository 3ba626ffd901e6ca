// The answer: classes with their probabilities and interval, the reasons as bars and as a table, and what would change it.

import { h, number, percent, placed, rows, signed } from "./dom.js";

const MOST_CLASSES = 8;
const MOST_REASONS = 12;
const EVEN = 0.005; // contributions smaller than this move no probability by a tenth of a percent

export function sentence(label, answer) {
  const p = answer.probabilities[`${answer.prediction}`] ?? Math.max(...Object.values(answer.probabilities));
  const [low, high] = answer.interval;
  const behind = answer.rows_behind === null ? "" : `, rests on ${rows(answer.rows_behind)}`;
  return [h("b", {}, `${label}: ${answer.prediction}`), `${percent(p)} (${percent(low)} to ${percent(high)})${behind}`];
}

export function classBars(answer) {
  const first = `${answer.prediction}`;
  const sorted = Object.entries(answer.probabilities).sort((a, b) => b[1] - a[1]);
  const bars = sorted.slice(0, MOST_CLASSES).map(([name, p]) => {
    const track = h("div", { class: "track", "aria-hidden": "true" }, placed(h("div", { class: "fill" }), { width: `${100 * p}%` }));
    if (name === first) {
      const [low, high] = answer.interval;
      track.append(placed(h("div", { class: "bounds", title: `95 % interval: ${percent(low)} to ${percent(high)}` }), { left: `${100 * low}%`, width: `${100 * (high - low)}%` }));
    }
    return h("div", { class: name === first ? "class first" : "class" }, h("span", {}, name), h("span", { class: "share" }, percent(p)), track);
  });
  const more = sorted.length - MOST_CLASSES;
  if (more > 0) bars.push(h("p", { class: "quiet" }, `and ${more} less probable classes`));
  return bars;
}

export function reasons(said) {
  const others = said.classes.length === 2 ? `${said.classes.find((name) => name !== said.of)}` : "the other classes";
  const unknown = said.parts.filter((part) => part.word === null && part.value === null);
  const known = said.parts.filter((part) => !unknown.includes(part));
  const shown = known.filter((part) => Math.abs(part.term) >= EVEN).slice(0, MOST_REASONS);
  const rest = known.filter((part) => !shown.includes(part));
  const sum = (parts) => parts.reduce((total, part) => total + part.term, 0);
  const lines = [line("Share of the class", "before any value", said.prior, said.rows, said)];
  for (const part of shown) lines.push(line(part.word ?? part.column, valueOf(part), part.term, part.counts, said));
  if (rest.length) lines.push(line(`${rest.length} more`, "each adds less", sum(rest), null, said));
  if (unknown.length) lines.push(line(`${unknown.length} unknown`, unknown.map((part) => part.column).join(", "), sum(unknown), null, said));
  if (Math.abs(said.split ?? 0) >= EVEN) lines.push(line("Among the other classes", "", said.split, null, said));
  const most = Math.max(0.5, ...lines.map((one) => Math.abs(one.term)));
  return h(
    "div",
    {},
    h("h3", {}, `Why ${said.of}?`),
    h("div", { class: "legend", "aria-hidden": "true" }, h("span", { class: "against" }, `◀ for ${others}`), h("span", { class: "for" }, `for ${said.of} ▶`)),
    h(
      "table",
      { class: "reasons" },
      h("caption", {}, `Each bar adds to the log-odds of ${said.of}; 0.7 doubles the odds. The counts are training rows of each class.`),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "value"), h("th", { scope: "col" }, ""), h("th", { scope: "col", class: "n" }, "adds"))),
      h("tbody", {}, lines.map((one) => drawn(one, most)), total(said)),
    ),
  );
}

function valueOf(part) {
  if (part.word !== null) return part.value > 1 ? `${part.value} times` : "in the text";
  if (part.note) return part.value === null ? part.note : `${part.value} (${part.note})`;
  return `= ${typeof part.value === "number" ? number(part.value) : part.value}`;
}

function line(name, value, term, counts, said) {
  const told = counts && counts.some((n) => n > 0) && said.classes.length <= 6;
  const behind = told ? said.classes.map((one, c) => `${one}\u00a0${number(Math.round(counts[c]))}`).join(", ") : "";
  return { name, value, term: term ?? 0, behind };
}

function drawn({ name, value, term, behind }, most) {
  const width = `${(50 * Math.abs(term)) / most}%`;
  const bar = placed(h("i", { class: term < 0 ? "against" : "for" }), { width });
  const title = behind ? `${name} ${value}. Training rows: ${behind}` : `${name} ${value}`;
  return h(
    "tr",
    { title },
    h("th", { scope: "row" }, name, h("span", { class: "value" }, value, behind ? h("span", {}, ` · ${behind}`) : null)),
    h("td", { class: "axis" }, h("div", { class: "swing", "aria-hidden": "true" }, bar)),
    h("td", { class: "n" }, signed(term)),
  );
}

const total = (said) =>
  h("tr", { class: "sum" }, h("th", { scope: "row", colspan: "2" }, `together: ${percent(said.probability)} ${said.of}`), h("td", { class: "n" }, said.log_odds === null ? "∞" : signed(said.log_odds)));

export function changes(said, apply) {
  const found = said.change;
  const box = h("div", {}, h("h3", {}, "What would change the answer"));
  if (!found) {
    box.append(h("p", { class: "quiet" }, "No other value of a few columns does."));
    return box;
  }
  box.append(h("p", { class: "quiet" }, `The answer becomes ${found.new} with`));
  box.append(h("ul", { class: "change" }, found.changes.map((one) => h("li", {}, ...worded(one)))));
  if (found.changes.every((one) => one.word === null)) box.append(h("button", { type: "button", onclick: () => apply(found.changes) }, "Try it"));
  return box;
}

function worded(one) {
  if (one.word !== null) return one.new === 0 ? ["no word ", h("b", {}, one.word)] : ["the word ", h("b", {}, one.word)];
  const shown = (value) => (typeof value === "number" ? number(value) : value === null ? "unknown" : value);
  return [h("b", {}, one.column), ` = ${shown(one.new)} instead of ${shown(one.old)}`];
}
