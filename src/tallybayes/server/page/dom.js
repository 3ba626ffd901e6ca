// Elements made in one line, and numbers as people read them. No markup is ever parsed from data.

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export const $ = (id) => document.getElementById(id);

// Widths and places are set as properties: a style attribute would break the content security policy.
export function placed(element, properties) {
  for (const [name, value] of Object.entries(properties)) element.style.setProperty(name, value);
  return element;
}

export function percent(share) {
  if (share > 0.9995 && share < 1) return "> 99.9 %";
  if (share < 0.0005 && share > 0) return "< 0.1 %";
  return `${(100 * share).toFixed(1)} %`;
}

export function number(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  if (value > 0 && value < 1e-6) return "< 0.000001";
  return Number(value.toPrecision(digits)).toLocaleString("en", { maximumFractionDigits: 6 });
}

export const rows = (n) => `${number(Math.round(n))} row${Math.round(n) === 1 ? "" : "s"}`;

export const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;

export function pValue(p) {
  if (p === null) return "–";
  return p < 0.001 ? "< 0.001" : p.toFixed(3);
}
