// Drift: the columns and class shares that changed, for rows asked about and rows learned.

import { h, number, percent, pValue, rows } from "./dom.js";

const MOST = 12; // columns listed

export function drifts(found, label) {
  const parts = [
    ["Rows asked about lately", found.asked],
    ["Rows learned since", found.learned],
  ];
  return parts.map(([title, one]) => h("div", {}, h("h3", {}, title), ...(one ? told(one, label) : [h("p", { class: "quiet" }, "None yet.")])));
}

function told(one, label) {
  const against = `${rows(one.new_rows)} against ${rows(one.fitted_rows)} fitted.`;
  if (!one.enough) return [h("p", {}, `${against} Too few rows to say.`)];
  const n = one.drifted.length;
  const tested = one.columns.filter((column) => column.p !== null).length;
  return [
    h("p", {}, `${against} `, h("b", {}, `${n} of ${tested} column${tested === 1 ? "" : "s"} changed`), "."),
    h("div", { class: "scroll" }, columnTable(one)),
    shares(one, label),
  ];
}

function columnTable(one) {
  const lines = one.columns.slice(0, MOST).map((column) => {
    const [change] = column.changes;
    const share = change && !["mean", "standard deviation"].includes(change.what);
    const write = share ? percent : number;
    const sure = column.adjusted !== null && column.adjusted <= one.level;
    return h(
      "tr",
      { class: sure ? "drifted" : "same" },
      h("th", { scope: "row" }, column.column, change ? h("span", { class: "value quiet" }, h("br"), `${change.what}: ${write(change.fitted)} → ${write(change.new)}`) : null),
      h("td", { class: "n" }, column.distance === null ? "–" : percent(column.distance)),
      h("td", { class: "n" }, pValue(column.adjusted)),
    );
  });
  const more = one.columns.length - MOST;
  return h(
    "table",
    {},
    h("caption", {}, "Changed: the least share of rows that would need another value. p is corrected for the number of columns."),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "column"), h("th", { scope: "col", class: "n" }, "changed"), h("th", { scope: "col", class: "n" }, "p"))),
    h("tbody", {}, lines, more > 0 ? h("tr", {}, h("td", { colspan: "3", class: "quiet" }, `and ${more} more columns`)) : null),
  );
}

function shares(one, label) {
  const found = one.classes ? [one.classes.classes, one.classes.fitted, one.classes.new, "new", one.classes.p] : null;
  const guessed = one.prior ? [one.prior.classes, one.prior.prior, one.prior.shares, "estimated", one.prior.p] : null;
  const taken = found ?? guessed;
  if (!taken) return null;
  const [classes, before, after, name, p] = taken;
  const lines = classes.slice(0, MOST).map((one, c) => h("tr", {}, h("th", { scope: "row" }, `${one}`), h("td", { class: "n" }, percent(before[c])), h("td", { class: "n" }, percent(after[c]))));
  const how = found ? `Class shares, p ${pValue(p)}.` : `Class shares estimated from the probabilities (EM), p ${pValue(p)}.`;
  return h(
    "table",
    {},
    h("caption", {}, how),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, label), h("th", { scope: "col", class: "n" }, "fitted"), h("th", { scope: "col", class: "n" }, name))),
    h("tbody", {}, lines),
  );
}
