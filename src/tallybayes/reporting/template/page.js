"use strict";
// Draws charts on demand: those in view, those of a fold when it opens, the others when nothing else is to do. Moves the
// chosen point of the curves with its slider, and marks the section that is read.
// Tables are filtered and sorted here; every number was computed before the page was written.
const drawn = JSON.parse(document.getElementById("drawn").textContent);
const views = {};

const started = new Map();

function draw(figure) {
  if (!started.has(figure)) started.set(figure, embed(figure));
  return started.get(figure);
}

async function embed(figure) {
  const name = figure.dataset.chart;
  const options = { mode: "vega-lite", renderer: "svg", actions: false, logLevel: 1, config: drawn.config, tooltip: { disableDefaultStyle: true } };
  const result = await vegaEmbed(figure.querySelector(".canvas"), drawn.specs[name], options);
  views[name] = result.view;
  figure.classList.add("drawn");
  const block = figure.closest("[data-roc]");
  if (block) choose(block, block.querySelector("input").value);
}

function choose(block, position) {
  const name = block.dataset.roc;
  const step = drawn.sliders[name][position];
  for (const place of block.querySelectorAll("[data-show]")) place.textContent = step[place.dataset.show];
  if (views[name]) views[name].data("point", step.point).data("line", step.line).run();
  const beside = views[block.dataset.precision];
  if (beside) beside.data("point", step.found).run();
}

for (const block of document.querySelectorAll("[data-roc]")) {
  const slider = block.querySelector("input");
  slider.addEventListener("input", () => choose(block, slider.value));
}

// The section that is read is the last one that has begun above a quarter of the screen; at the end of the page, the last.
const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
const sections = [...document.querySelectorAll("section[id]")];
function follow() {
  const end = window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 2;
  const begun = sections.filter((one) => one.getBoundingClientRect().top < window.innerHeight / 4);
  const read = end && window.scrollY > 0 ? sections.at(-1) : begun.at(-1);
  for (const [id, link] of links) {
    const here = read !== undefined && id === read.id;
    if (here === link.classList.contains("here")) continue;
    link.classList.toggle("here", here);
    if (here) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
    const list = link.closest("nav");
    if (here) list.scrollTo({ left: link.offsetLeft - 24, top: Math.max(0, link.offsetTop - list.clientHeight / 2) });
  }
}
window.addEventListener("scroll", follow, { passive: true });
window.addEventListener("resize", follow);
follow();

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

const folds = [...document.querySelectorAll("details")];
for (const fold of folds) {
  if ("open" in fold.dataset) fold.open = true;
  fold.addEventListener("toggle", async () => {
    if (!fold.open || fold.classList.contains("measured")) return;
    for (const figure of fold.querySelectorAll("figure.chart")) if (shown(figure)) await draw(figure);
    window.dispatchEvent(new Event("resize"));
  });
}
window.addEventListener("beforeprint", () => { for (const fold of folds) fold.open = true; });

const closed = (figure) => folds.filter((fold) => !fold.open && fold.contains(figure));
const shown = (figure) => closed(figure).length === 0;
const idle = () => new Promise((done) => (window.requestIdleCallback || setTimeout)(done));

// A chart inside a closed fold has no width: the fold is open, unseen and without a place, while the chart is drawn.
async function drawUnseen(figure) {
  const around = closed(figure);
  for (const fold of around) { fold.classList.add("measured"); fold.open = true; }
  await draw(figure);
  for (const fold of around) { fold.open = false; fold.classList.remove("measured"); }
}

const near = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting && shown(entry.target)) { near.unobserve(entry.target); draw(entry.target); }
}, { rootMargin: "300px" });

(async () => {
  const figures = [...document.querySelectorAll("figure.chart")];
  for (const figure of figures) near.observe(figure);
  for (const figure of figures.filter(shown)) { await idle(); await draw(figure); }
  for (const figure of figures.filter((one) => !started.has(one))) { await idle(); await (shown(figure) ? draw(figure) : drawUnseen(figure)); }
  document.documentElement.dataset.drawn = "all";
})();
