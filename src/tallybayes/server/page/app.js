// The page: one model, one case, the answer as one types. The case is in the address, so that a link shares it.

import { Refused, at, getJson, postJson, request, setToken } from "./api.js";
import { changes, classBars, reasons, sentence } from "./answer.js";
import { $, h, number, percent, rows } from "./dom.js";
import { drifts } from "./drift.js";
import { Form } from "./form.js";
import { teaching } from "./teach.js";

const PAUSE = 120; // milliseconds without a key before the server is asked
const SETTLED = 1500; // milliseconds after which a case counts as looked at
const MOST_RECENT = 12;
const MOST_TRIES = 50; // times to ask whether a change is published
const recent = [];
let model = null;
let form = null;
let asking = null;
let timer = 0;
let settling = 0;

const problem = (error) => $("problem").replaceChildren(error?.message ?? "");

async function open() {
  try {
    const models = await getJson("/models");
    $("door").hidden = true;
    $("models").replaceChildren(...models.map((one) => h("option", {}, one.name)));
    $("choose").hidden = models.length < 2;
    await load(fromAddress().name ?? models[0].name);
  } catch (error) {
    $("title").replaceChildren(error.status === 401 ? "A token, please" : "Not available");
    $("about").replaceChildren(error.message);
    $("door").hidden = error.status !== 401;
    if (error.status === 401) $("token").focus();
  }
}

async function load(name) {
  model = await getJson(at(name));
  $("models").value = name;
  $("main").hidden = false;
  $("download").href = `${at(name)}/file`;
  document.title = `${name} · tallybayes`;
  form = new Form(model.columns, $("fields"), changed);
  $("search").hidden = !form.searchable;
  $("find").value = "";
  $("teaching").replaceChildren(...teaching(model, () => form.row(), refresh));
  $("drift").replaceChildren();
  const given = fromAddress();
  form.fill(given.name === name ? given.row : {});
  form.show("");
  about();
  await ask();
}

function about() {
  $("title").replaceChildren("Play with ", h("em", {}, model.name));
  const loss = model.validation?.log_loss;
  const parts = [`predicts ${model.label} from ${model.columns.length} column${model.columns.length === 1 ? "" : "s"}`, `${rows(model.rows)} learned`];
  if (typeof loss === "number") parts.push(`log-loss ${number(loss, 3)} on rows left out`);
  if (model.stale) parts.push("calibrated before the last change");
  $("about").replaceChildren(parts.join(" · "));
}

// The model has changed: its counts and the answer are new, the form stays. Predictions follow a change a moment after
// its receipt, so wait for that.
async function refresh(receipt) {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    Object.assign(model, await getJson(at(model.name)));
    if (model.position >= receipt.position) break;
    await new Promise((done) => setTimeout(done, PAUSE));
  }
  about();
  await ask();
}

function changed() {
  clearTimeout(timer);
  timer = setTimeout(ask, PAUSE);
}

async function ask() {
  asking?.abort();
  const mine = (asking = new AbortController());
  const row = form.row();
  history.replaceState(null, "", toAddress(model.name, row));
  try {
    const options = { signal: mine.signal };
    const [[answer], [said]] = await Promise.all([
      postJson(`${at(model.name)}/predict?count=0`, [row], options),
      postJson(`${at(model.name)}/explain`, [row], options),
    ]);
    problem(null);
    $("said").replaceChildren(...sentence(model.label, answer));
    $("classes").replaceChildren(...classBars(answer));
    $("bar").replaceChildren(h("span", {}, `${answer.prediction}`), h("span", { class: "share" }, percent(Math.max(...Object.values(answer.probabilities)))));
    $("bar").hidden = false;
    $("why").replaceChildren(reasons(said), changes(said, apply));
    clearTimeout(settling);
    settling = setTimeout(() => remember(row, answer), SETTLED);
  } catch (error) {
    if (error.name !== "AbortError") problem(error);
  }
}

function apply(found) {
  const row = form.row();
  for (const one of found) row[one.column] = one.new;
  form.fill(row);
  ask();
}

function remember(row, answer) {
  const link = toAddress(model.name, row);
  if (!Object.keys(row).length || recent[0]?.link === link) return;
  recent.splice(0, recent.length, { link, row, answer, name: model.name }, ...recent.filter((one) => one.link !== link).slice(0, MOST_RECENT - 1));
  $("recent").replaceChildren(...recent.map(listed));
}

function listed({ link, row, answer, name }) {
  const text = Object.entries(row).map(([column, value]) => `${column} ${value}`).join(", ");
  const p = Math.max(...Object.values(answer.probabilities));
  const other = name === model.name ? "" : `${name}: `;
  return h("li", {}, h("a", { href: link, title: text }, `${other}${text}`), h("span", {}, `${answer.prediction} ${percent(p)}`));
}

// #model=NAME&row=JSON
function toAddress(name, row) {
  return `#${new URLSearchParams({ model: name, row: JSON.stringify(row) })}`;
}

function fromAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  try {
    const row = JSON.parse(given.get("row") ?? "{}");
    return { name: given.get("model"), row: row && typeof row === "object" ? row : {} };
  } catch {
    return { name: given.get("model"), row: {} };
  }
}

async function upload(event) {
  const [file] = event.target.files;
  if (!file) return;
  const done = $("done");
  done.className = "";
  done.replaceChildren(`Predicting ${file.name} …`);
  try {
    const response = await request(`${at(model.name)}/predict`, { body: file, type: "text/csv" });
    const link = URL.createObjectURL(await response.blob());
    const name = file.name.replace(/(\.csv)?$/i, "-predicted.csv");
    const save = h("a", { href: link, download: name }, `Save ${name}`);
    done.replaceChildren("Done. ", save);
  } catch (error) {
    done.className = "problem";
    done.replaceChildren(error.message);
  }
  event.target.value = "";
}

async function measure() {
  const box = $("drift");
  $("measure").disabled = true;
  box.replaceChildren(h("p", { class: "quiet" }, "Measuring …"));
  try {
    box.replaceChildren(...drifts(await getJson(`${at(model.name)}/drift`), model.label));
  } catch (error) {
    box.replaceChildren(h("p", { class: "problem" }, error.message));
  }
  $("measure").disabled = false;
}

async function share() {
  try {
    await navigator.clipboard.writeText(location.href);
    $("shared").replaceChildren("Copied.");
  } catch {
    $("shared").replaceChildren("Copy it from the address bar.");
  }
  setTimeout(() => $("shared").replaceChildren(), 3000);
}

function toAnswer() {
  $("answer").focus();
  $("answer").scrollIntoView();
}

async function download(event) {
  event.preventDefault();
  try {
    const response = await request(`${at(model.name)}/file`);
    const save = h("a", { href: URL.createObjectURL(await response.blob()), download: `${model.name}.tally` });
    save.click();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    problem(error);
  }
}

$("door").addEventListener("submit", (event) => {
  event.preventDefault();
  setToken($("token").value);
  open();
});
$("case").addEventListener("submit", (event) => event.preventDefault());
for (const id of ["skip", "bar"]) $(id).addEventListener("click", toAnswer);
$("clear").addEventListener("click", () => {
  form.fill({});
  form.show($("find").value);
  ask();
});
$("find").addEventListener("input", () => form.show($("find").value));
$("models").addEventListener("change", () => load($("models").value));
$("file").addEventListener("change", upload);
$("measure").addEventListener("click", measure);
$("share").addEventListener("click", share);
$("download").addEventListener("click", download);
window.addEventListener("hashchange", () => {
  const given = fromAddress();
  if (!model || !given.name) return;
  if (given.name !== model.name) load(given.name);
  else if (JSON.stringify(given.row) !== JSON.stringify(form.row())) {
    form.fill(given.row);
    ask();
  }
});
open();
