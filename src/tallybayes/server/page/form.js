// A form made of the model's columns: lists for categories, a slider and a box for numbers, a box for text.
// A field that is unknown is left out of the row.

import { h } from "./dom.js";

const MOST_LISTED = 60; // values of a category in a list; more are typed, with suggestions
const MANY = 24; // columns; more can be searched
const FEW = 40; // columns drawn at once, until one searches
// What is typed into a field whose text is read as something else.
const READ = { numbers: "a number", times: "a time, such as 14:30", booleans: "yes or no", dates: "a date" };

export class Form {
  constructor(columns, box, changed) {
    this.fields = columns.map((column) => new Field(column, changed));
    this.box = box;
    this.show("");
  }

  get searchable() {
    return this.fields.length > MANY;
  }

  // Show the fields whose name contains a text; those with a value always.
  show(text) {
    const low = text.toLowerCase();
    let left = FEW;
    this.box.replaceChildren();
    for (const field of this.fields) {
      const found = field.column.name.toLowerCase().includes(low);
      if (field.value !== null || (found && left-- > 0)) this.box.append(field.element);
    }
    if (left < 0) this.box.append(h("p", { class: "quiet field wide" }, `and ${-left} more columns: search for them above`));
  }

  row() {
    const known = this.fields.filter((field) => field.value !== null);
    return Object.fromEntries(known.map((field) => [field.column.name, field.value]));
  }

  fill(row) {
    for (const field of this.fields) field.set(row[field.column.name] ?? null);
  }
}

class Field {
  constructor(column, changed) {
    this.column = column;
    this.value = null;
    this.changed = changed;
    const id = `field-${encodeURIComponent(column.name)}`;
    this.unknown = h("input", { type: "checkbox", checked: true, "aria-label": `${column.name} is unknown` });
    this.unknown.addEventListener("change", () => this.take(this.unknown.checked ? null : column.typical ?? 0));
    this.control = h("div", { class: "control" });
    this.draw(id);
    this.element = h(
      "div",
      { class: `field is-unknown${this.isLong ? " wide" : ""}` },
      h("div", { class: "name" }, h("label", { for: id }, column.name), column.kind === "number" ? h("label", { class: "unknown" }, this.unknown, "unknown") : null),
      this.control,
    );
    this.set(null);
  }

  get isLong() {
    return this.column.kind === "text" && !this.column.reads;
  }

  draw(id) {
    const { kind } = this.column;
    if (kind === "number") this.drawNumber(id);
    else if (kind === "category" && this.column.values.length <= MOST_LISTED) this.drawList(id);
    else this.drawText(id);
  }

  drawNumber(id) {
    const { name, min, max, whole } = this.column;
    const step = whole ? 1 : tidy((max - min) / 200);
    this.input = h("input", { id, type: "number", step: "any" });
    this.slider = h("input", { type: "range", min: `${min ?? 0}`, max: `${max ?? 1}`, step: `${step || "any"}`, "aria-label": `${name}, from ${min} to ${max}` });
    this.input.addEventListener("input", () => this.take(this.input.value === "" ? null : Number(this.input.value), this.input));
    this.slider.addEventListener("input", () => this.take(rounded(Number(this.slider.value), step)));
    this.control.append(h("div", { class: "number" }, this.slider, this.input));
  }

  drawList(id) {
    const { values } = this.column;
    const options = values.map((value, k) => h("option", { value: `${k}` }, `${value}`));
    this.input = h("select", { id }, h("option", { value: "" }, "unknown"), options);
    this.input.addEventListener("change", () => this.take(this.input.value === "" ? null : values[Number(this.input.value)]));
    this.control.append(this.input);
  }

  drawText(id) {
    const { kind, reads, values = [] } = this.column;
    this.input = this.isLong ? h("textarea", { id, rows: "5", placeholder: "unknown" }) : h("input", { id, type: "text", placeholder: READ[reads] ?? "unknown" });
    if (kind === "category") {
      const list = h("datalist", { id: `${id}-values` }, values.map((value) => h("option", { value: `${value}` })));
      this.input.setAttribute("list", list.id);
      this.control.append(list);
    }
    this.input.addEventListener("input", () => this.take(this.typed(this.input.value), this.input));
    this.control.append(this.input);
  }

  // A typed category has the type of the values seen: a number, true or false, or text.
  typed(text) {
    if (text === "") return null;
    const known = (this.column.values ?? []).find((value) => `${value}` === text);
    if (known !== undefined) return known;
    return typeof this.column.values?.[0] === "number" && !Number.isNaN(Number(text)) ? Number(text) : text;
  }

  take(value, from) {
    this.set(value, from);
    this.changed();
  }

  set(value, from) {
    this.value = value;
    this.unknown.checked = value === null;
    this.element?.classList.toggle("is-unknown", value === null);
    if (this.slider) this.slider.value = `${value ?? this.column.typical ?? 0}`;
    if (this.input === from) return;
    if (this.input.tagName === "SELECT") {
      const place = this.column.values.indexOf(value);
      this.input.value = place < 0 ? "" : `${place}`;
    } else {
      this.input.value = value === null ? "" : `${value}`;
    }
  }
}

// The next number at or below with one digit: a step on which values read well.
function tidy(step) {
  if (!(step > 0)) return 0;
  const power = 10 ** Math.floor(Math.log10(step));
  return Math.floor(step / power) * power;
}

const rounded = (value, step) => (step > 0 ? Number((Math.round(value / step) * step).toPrecision(6)) : value);
