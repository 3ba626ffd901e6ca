"use strict";
// Draws the charts in order, moves the cheapest point of a ROC curve with its slider, and marks the current section.
// Every number was computed before the page was written; nothing is computed here.
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

(async () => {
  for (const figure of document.querySelectorAll("figure.chart")) await draw(figure);
  for (const block of document.querySelectorAll("[data-roc]")) choose(block, block.querySelector("input").value);
  document.documentElement.dataset.drawn = "all";
})();
