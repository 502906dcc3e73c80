// Proofs about the log, recomputed here from a checkpoint that the reviewer brings.
// Shows: whether a record is [the one in the log](#verifying-a-record)
import { curlOf, get, getText, saveAs } from "../app/api.js";
import { newestCheckpoint, parseKey } from "../app/checkpoint.js";
import { leafOf } from "../app/leaf.js";
import { fromBase64, toBase64 } from "../app/merkle.js";
import { Copy, Failure, Field, Page, Table } from "../app/parts.js";
import { seesEverything, useMe } from "../app/me.js";
import { link } from "../app/route.js";
import { html, useRef, useState } from "../app/ui.js";
import { verify } from "../app/verification.js";

const LEAD = "A checkpoint that you kept proves that nothing before it was changed, removed or inserted since. Your browser does the arithmetic, and asks the service for nothing but the proofs.";
const MARKS = { good: ["allow", "✓ holds"], bad: ["deny", "✕ doesn't hold"], open: ["ask", "? open"] };
const STEP_COLUMNS = [
  { label: "Step", number: true, cell: (row) => row.number },
  { label: "Hash from the proof", wide: true, cell: (row) => html`<span class="hash">${toBase64(row.sibling)}</span>` },
  { label: "Goes to the", cell: (row) => row.side },
  { label: "Result, computed here", wide: true, cell: (row) => html`<span class="hash">${toBase64(row.result)}</span>` },
];

// Read what was typed; throws an Error whose `field` it is about.
async function readInput(input) {
  const read = async (field, parse) => {
    try {
      return await parse(input[field].trim());
    } catch (error) {
      throw Object.assign(error, { field });
    }
  };
  const checkpoint = await read("checkpoint", (text) => newestCheckpoint(text));
  if (checkpoint.size === 0n) throw Object.assign(new Error("a checkpoint of an empty log proves nothing"), { field: "checkpoint" });
  const key = await read("key", (text) => (text ? parseKey(text) : null));
  const entry = await read("entry", (text) => (text ? JSON.parse(text) : null));
  const leaf = entry ? await read("entry", () => leafOf(entry)) : input.leaf ? fromBase64(input.leaf) : null;
  const position = entry ? entry.position : await read("position", (text) => {
    if (text && !/^[1-9]\d{0,14}$/.test(text)) throw new Error("a position is a number from 1 on");
    return text ? Number(text) : null;
  });
  return { checkpoint, key, leaf, position, reads: input.reads };
}

function Result({ report }) {
  const { checks, checkpoint, position } = report;
  const bad = checks.filter((each) => each.state === "bad");
  const open = checks.filter((each) => each.state === "open");
  const proved = !open.some((each) => each.name.startsWith("Nothing") || each.name.startsWith("Entry"));
  const genuine = bad.length === 0 && proved;
  const said = bad.length > 0
    ? ["bad", "✕ Not genuine", "What the service shows contradicts your checkpoint. Keep the checkpoint and the proofs, and tell the operator."]
    : genuine
      ? ["good", "✓ Genuine", `The log begins with exactly the ${checkpoint.size} entries of your checkpoint: nothing was changed or removed.${position ? ` And the entry at position ${position} is in the signed log.` : ""}`]
      : ["warn", "? Not proved", "Nothing contradicts your checkpoint, but not everything could be checked."];
  return html`<section aria-labelledby="result">
    <div class="card verdict ${said[0]}" role="status"><h2 id="result">Result</h2><p class="figure">${said[1]}</p><p>${said[2]}</p>
      ${genuine && open.length > 0 && html`<p>${open.length === 1 ? "One thing remains" : `${open.length} things remain`} open, below.</p>`}</div>
    <ul class="plain checks">${checks.map((each) => html`<li><span class="badge ${MARKS[each.state][0]}">${MARKS[each.state][1]}</span> <strong>${each.name}</strong>: <bdi>${each.text}</bdi>.
      ${each.leaf && html`<br /><small>Leaf <span class="hash">${each.leaf}</span></small>`}
      ${each.steps.length > 0 && html`<details><summary>All ${each.steps.length} hashes of this proof</summary>
        <${Table} caption=${`Proof: ${each.name}`} columns=${STEP_COLUMNS} rows=${each.steps.map((step, index) => ({ ...step, number: index + 1 }))} rowKey=${(row) => row.number} /></details>`}</li>`)}</ul>
    <p class="buttons">
      <button type="button" class="quiet" onClick=${() => saveAs(new Blob([JSON.stringify({ checkpoint: report.text, proofs: report.proofs }, null, 2)], { type: "application/json" }), "proofs.json")}>Save the proofs</button>
      <${Copy} label="Copy the requests as curl" text=${() => report.requests.map(({ path, query }) => curlOf(path, query)).join("\n")} />
      ${position && html`<a href=${link(["audit", position])}>Show entry ${position}</a>`}</p>
  </section>`;
}

function File({ onText }) {
  const read = async (event) => {
    const [file] = event.target.files;
    if (file) onText(await file.text());
  };
  return html`<div class="field"><label for="file">… or take it from a file</label><input id="file" type="file" onChange=${read} /></div>`;
}

function Keep() {
  const [state, setState] = useState({});
  const fetchBoth = async () => {
    setState({ busy: true });
    try {
      const note = await getText("/api/audit/checkpoint");
      const { data } = await get("/api/audit/checkpoint/key");
      setState({ note, key: data.public_key });
    } catch (error) {
      setState({ error });
    }
  };
  const save = () => saveAs(new Blob([state.note], { type: "text/plain" }), "checkpoint.txt");
  return html`<section><h2>No checkpoint kept yet?</h2>
    <p>Keep one now, where the service's operator can't write: it will prove later that nothing up to now was rewritten. Keep the public key with it, better from the operator than from here.</p>
    <p><button type="button" class="quiet" disabled=${state.busy} onClick=${fetchBoth}>Show the newest checkpoint and key</button></p>
    <${Failure} error=${state.error} />
    ${state.note && html`<h3>Checkpoint</h3><pre>${state.note}</pre><h3>Public key</h3><pre>${state.key}</pre>
      <p class="buttons"><button type="button" class="quiet" onClick=${save}>Save the checkpoint</button><${Copy} label="Copy the checkpoint" text=${() => state.note} /><${Copy} label="Copy the key" text=${() => state.key} /></p>`}
  </section>`;
}

const FIELDS = { checkpoint: "Checkpoint", key: "Public key", entry: "Entry as recorded", position: "Position" };

export default function Verify({ query }) {
  const me = useMe();
  const [input, setInput] = useState({ checkpoint: "", key: "", entry: "", position: query.position ?? "", leaf: query.leaf ?? "", reads: seesEverything(me) });
  const [state, setState] = useState({});
  const result = useRef(null);
  const change = (name) => (value) => setInput((before) => ({ ...before, [name]: value, ...(name === "position" ? { leaf: "" } : {}) }));
  const run = async (event) => {
    event?.preventDefault();
    setState({ busy: true });
    try {
      const given = await readInput(input);
      setState({ report: { ...(await verify(given)), checkpoint: given.checkpoint, position: given.position, text: input.checkpoint } });
      result.current?.scrollIntoView({ block: "nearest" });
    } catch (error) {
      setState(error.field ? { wrong: error } : { error });
    }
  };
  return html`<${Page} title="Verify" lead=${LEAD}>
    <form class="stack wide" onSubmit=${run}>
      <${Field} label="Your checkpoint" name="checkpoint" lines=${6} value=${input.checkpoint} onValue=${change("checkpoint")} required=${true} placeholder="agent-runtime/…" help="One that you kept: a file of the folder checkpoints, an answer of GET /api/audit/checkpoint, or a message of the Kafka topic. If you have several, take the newest." />
      <${File} onText=${change("checkpoint")} />
      <${Field} label="Public key that you kept (optional)" name="key" value=${input.key} onValue=${change("key")} placeholder="agent-runtime/…+id+key" help="Without it, signatures stay unchecked: the checkpoint is worth as much as the place where you kept it." />
      <${Field} label="Position of an entry (optional)" name="position" value=${input.position} onValue=${change("position")} inputmode="numeric" help=${input.leaf ? `With the leaf ${input.leaf}, computed from the record on the entry's page.` : "Proves that this entry is in the log that the checkpoint signs."} />
      ${seesEverything(me) && !input.leaf && html`<label><input type="checkbox" checked=${input.reads} onChange=${(event) => change("reads")(event.target.checked)} /> Read this entry, too, and compare its content; the read is on record</label>`}
      <details><summary>… or the entry as recorded, from an export</summary><${Field} label="Entry as recorded, as JSON" name="entry" lines=${4} value=${input.entry} onValue=${change("entry")} /></details>
      <button type="submit" disabled=${state.busy}>${state.busy ? "Verifying …" : "Verify"}</button>
    </form>
    ${state.wrong && html`<p class="failure" role="alert"><strong>${FIELDS[state.wrong.field]}:</strong> ${state.wrong.message}.</p>`}
    <${Failure} error=${state.error} retry=${run} />
    <div ref=${result}>${state.report && html`<${Result} report=${state.report} />`}</div>
    <${Keep} />
  <//>`;
}
