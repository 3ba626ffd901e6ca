"use strict";
// Draws the charts in order, moves the cheapest point of a ROC curve with its slider, and marks the current section.
// Tables are filtered and sorted here; every number was computed before the page was written.
const drawn = JSON.parse(document.getElementById("drawn").textContent);
const views = {};

async function draw(figure) {
  const name = figure.dataset.chart;
  const options = { mode: "vega-lite", renderer: "svg", actions: false, logLevel: 1, config: drawn.config, tooltip: { disableDefaultStyle: true } };
  const result = await vegaEmbed(figure.querySelector(".canvas"), drawn.specs[name], options);
  views[name] = result.view;
}

function choose(block, position) {
  const name = block.dataset.roc;
  const step = drawn.sliders[name][position];
  for (const place of block.querySelectorAll("[data-show]")) place.textContent = step[place.dataset.show];
  if (views[name]) views[name].data("point", step.point).data("line", step.line).run();
}

for (const block of document.querySelectorAll("[data-roc]")) {
  const slider = block.querySelector("input");
  slider.addEventListener("input", () => choose(block, slider.value));
}

const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
const watch = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    for (const link of links.values()) link.classList.remove("here");
    links.get(entry.target.id).classList.add("here");
  }
}, { rootMargin: "-10% 0px -80% 0px" });
for (const section of document.querySelectorAll("section")) watch.observe(section);

for (const field of document.querySelectorAll("[data-find]")) {
  const table = document.getElementById(field.dataset.find);
  field.addEventListener("input", () => {
    const wanted = field.value.toLowerCase();
    for (const row of table.querySelectorAll("tbody tr")) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
}

function sort(table, column, down) {
  const value = (row) => row.children[column].textContent.replace(/,/g, "");
  const compare = (a, b) => {
    const [x, y] = [parseFloat(a), parseFloat(b)];
    return isNaN(x) || isNaN(y) ? a.localeCompare(b) : x - y;
  };
  const body = table.querySelector("tbody");
  const rows = [...body.rows].sort((a, b) => compare(value(a), value(b)) * (down ? -1 : 1));
  body.append(...rows);
}

for (const table of document.querySelectorAll(".sortable table")) {
  for (const [k, head] of [...table.querySelectorAll("thead th")].entries()) {
    head.addEventListener("click", () => {
      head.dataset.down = head.dataset.down === "no" ? "yes" : "no";
      sort(table, k, head.dataset.down === "yes");
    });
  }
}

// A chart inside a closed fold has no width, so all are open while they are drawn, and when the page is printed.
const folds = [...document.querySelectorAll("details")];
for (const fold of folds) fold.addEventListener("toggle", () => fold.open && window.dispatchEvent(new Event("resize")));
window.addEventListener("beforeprint", () => { for (const fold of folds) fold.open = true; });

(async () => {
  for (const fold of folds) fold.open = true;
  for (const figure of document.querySelectorAll("figure.chart")) await draw(figure);
  for (const block of document.querySelectorAll("[data-roc]")) choose(block, block.querySelector("input").value);
  for (const fold of folds) fold.open = "open" in fold.dataset;
  document.documentElement.dataset.drawn = "all";
})();
