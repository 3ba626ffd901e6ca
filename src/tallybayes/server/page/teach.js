// Teach the case and take it back; the receipt says what was written where.

import { at, postJson } from "./api.js";
import { h, rows } from "./dom.js";

export function teaching(model, row, done) {
  if (!model.learn) return [h("p", { class: "quiet" }, "This server is read-only. Started with --learn, it takes corrections here.")];
  const known = model.classes.map((one) => one.value);
  const id = "truth";
  const input = h("select", { id }, h("option", { value: "" }, "choose …"), known.map((value, k) => h("option", { value: `${k}` }, `${value}`)));
  const box = h("div", { "aria-live": "polite" });
  const teach = h("button", { type: "button", class: "main", disabled: true }, "Teach this case");
  const undo = h("button", { type: "button", disabled: true }, "Take it back");
  let last = null;

  async function change(operation, content) {
    teach.disabled = undo.disabled = true;
    try {
      // One key for one click: a retry of the same request is counted once.
      const headers = { "Idempotency-Key": crypto.getRandomValues(new Uint32Array(4)).join("-") };
      const receipt = await postJson(`${at(model.name)}/${operation}`, [content], { headers });
      box.replaceChildren(shown(receipt));
      last = operation === "learn" ? content : null;
      await done(receipt);
    } catch (error) {
      box.replaceChildren(h("p", { class: "problem", role: "alert" }, error.message));
    }
    teach.disabled = input.value === "";
    undo.disabled = last === null;
  }
  input.addEventListener("change", () => (teach.disabled = input.value === ""));
  teach.addEventListener("click", () => change("learn", { ...row(), [model.label]: known[Number(input.value)] }));
  undo.addEventListener("click", () => change("forget", last));
  return [
    h("p", {}, "If you know the true class of this case, the model learns it at once, exactly and for good. A case taught here can be taken back."),
    h("div", { class: "teach" }, h("label", { for: id }, `True ${model.label}`, input), teach, undo),
    box,
  ];
}

function shown(receipt) {
  const verb = receipt.operation === "learn" ? "Learned" : "Took back";
  const lines = [
    `${verb} ${rows(receipt.rows)}, at journal position ${receipt.position}`,
    `evidence before  ${receipt.before.slice(0, 16)}…`,
    `evidence after   ${receipt.after.slice(0, 16)}…`,
    receipt.time,
  ];
  return h("pre", { class: "receipt" }, lines.join("\n"));
}
