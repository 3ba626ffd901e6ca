// The page: a field for each column, and the answer for what they hold. Names reach the page as text, never as markup.
const card = JSON.parse(document.getElementById("card").textContent);
const score = tallyScore(card), byId = id => document.getElementById(id);
const MOST_REASONS = 15, MOST_WORDS = 8;
const add = (parent, tag, text, set = {}) => {
  const made = Object.assign(document.createElement(tag), set);
  if (text !== undefined) made.textContent = text;
  return parent.appendChild(made);
};
const percent = p => (p > 0 && p < 0.0005 ? "< 0.1 %" : p < 1 && p > 0.9995 ? "> 99.9 %" : `${(100 * p).toFixed(1)} %`);
const signed = x => (x === Infinity ? "∞" : x === -Infinity ? "−∞" : (x < 0 ? "−" : "+") + Math.abs(x).toFixed(2));

const MISSING = "missing", OTHER = "other";  // no values of options: those are positions
const readings = card.readings || {}, sources = new Map(Object.entries(readings)
  .flatMap(([name, {kind, options}]) => (kind === "dates" ? options.slice(1).map(part => [`${name}.${part}`, name]) : [])));
const inputs = [...new Set(card.columns.map(name => sources.get(name) ?? name))];  // a date has one field, not one for each part
const fields = inputs.map(name => {
  const term = card.terms.find(one => one.name === name), label = add(byId("fields"), "label", name);
  if (!term) {
    const timed = readings[name].options.includes("hour"), input = add(label, "input", undefined, {type: timed ? "datetime-local" : "date"});
    return {name, read: () => (input.value === "" ? null : new Date(`${input.value}${timed ? "" : "T00:00"}Z`))};
  }
  if (term.kind === "tokens") {
    label.className = "wide";
    const area = add(label, "textarea");
    return {name, read: () => (area.value === "" ? null : area.value)};
  }
  if (term.kind === "lookup") {
    const list = add(label, "select"), values = term.values.values;
    add(list, "option", "missing", {value: MISSING});
    values.forEach((value, k) => value !== null && add(list, "option", String(value), {value: k}));
    if (card.unseen !== "error") add(list, "option", "another value", {value: OTHER});
    return {name, read: () => (list.value === MISSING ? null : list.value === OTHER ? "\0" : values[list.value])};
  }
  if (readings[name] && readings[name].kind === "times") {
    const input = add(label, "input", undefined, {type: "text", placeholder: "14:30 or 2:30 PM"});
    return {name, read: () => (input.value.trim() === "" ? null : input.value)};
  }
  const unit = readings[name] && readings[name].kind === "numbers" && readings[name].options[1];
  if (unit) label.firstChild.textContent = `${name} (${unit})`;
  const hint = term.domain === "binary" ? "0 or 1" : "missing";
  const input = add(label, "input", undefined, {type: "number", step: "any", placeholder: hint, inputMode: "decimal"});
  return {name, read: () => (input.value === "" ? null : Number(input.value))};
});

function show() {
  const row = Object.fromEntries(fields.map(field => [field.name, field.read()]));
  let answer;
  try {
    answer = score(row);
  } catch (error) {
    byId("problem").textContent = error.message;
    byId("problem").hidden = false;
    return;
  }
  byId("problem").hidden = true;
  byId("prediction").textContent = `${card.label}: ${answer.prediction}`;
  byId("classes").replaceChildren();
  const order = answer.classes.map((_, c) => c).sort((a, b) => answer.probabilities[b] - answer.probabilities[a]);
  for (const c of order) {
    const item = add(byId("classes"), "li");
    add(item, "span", String(answer.classes[c]));
    add(item, "b", percent(answer.probabilities[c]));
    add(add(item, "div", undefined, {className: "bar"}), "i").style.width = `${100 * answer.probabilities[c]}%`;
  }
  byId("against").textContent = `Log-odds for ${answer.prediction} against ${answer.classes.length === 2
    ? answer.classes[1 - answer.classes.indexOf(answer.prediction)] : "all others"}; they add up.`;
  byId("short").textContent = `${answer.prediction} · ${percent(Math.max(...answer.probabilities))}`;
  byId("reasons").replaceChildren();
  const [prior, ...rest] = answer.reasons, strength = one => -Math.abs(one.logOdds);
  const told = rest.filter(one => one.logOdds !== 0).sort((a, b) => strength(a) - strength(b));
  const shown = [prior, ...told.slice(0, MOST_REASONS)], left = told.slice(MOST_REASONS);
  if (left.length) shown.push({name: `${left.length} more`, value: "", logOdds: left.reduce((sum, one) => sum + one.logOdds, 0)});
  const words = one => [...one.parts].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, MOST_WORDS);
  const finite = shown.map(one => Math.abs(one.logOdds)).filter(Number.isFinite), most = Math.max(...finite, 1e-9);
  for (const one of shown) {
    line(one.name, one.parts ? "" : one.value, one.logOdds, most);
    if (one.parts) for (const [word, odds] of words(one)) line("", word, odds, most);
  }
  line("together", "", answer.reasons.reduce((sum, one) => sum + one.logOdds, 0), Infinity);
}

function line(name, value, logOdds, most) {
  const row = add(byId("reasons"), "tr", undefined, {className: most === Infinity ? "total" : ""});
  const cell = add(row, "td", name ? `${name} ` : ""), side = logOdds < 0 ? "against" : "for";
  if (value === null) add(cell, "span", "missing");
  else if (value !== undefined && value !== "") add(cell, "span", String(value), {className: name ? "" : "word"});
  const bar = add(add(row, "td"), "i", undefined, {className: side});
  bar.style.width = most === Infinity ? "0" : `${50 * Math.min(Math.abs(logOdds) / most, 1)}%`;
  add(row, "td", signed(logOdds), {className: side});
}

document.title = `${card.label} · tallybayes`;
byId("title").textContent = `Which ${card.label}?`;
byId("form").addEventListener("input", show);
byId("form").addEventListener("reset", () => setTimeout(show));
byId("form").addEventListener("submit", event => event.preventDefault());
show();
