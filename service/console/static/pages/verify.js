// Is the record genuine? Proofs, recomputed here from a checkpoint that the reviewer
// brings: the service gives hashes, and the browser does the sums.
import { get, getText, saveAs } from "../app/api.js";
import { Failure, Field, Page } from "../app/parts.js";
import { ProofError, fromBase64, hex, leafOf, openCheckpoint, parseKey, rootByInclusion, rootsByConsistency, same } from "../app/proofs.js";
import { link, setQuery } from "../app/route.js";
import { seesEverything, useMe } from "../app/me.js";
import { shown } from "../app/time.js";
import { html, useEffect, useState } from "../app/ui.js";

// What is asked of the service: the key, the newest checkpoint, and the two proofs.
async function check({ note, keyText, position, me }) {
  const served = (await get("/api/audit/checkpoint/key")).data.public_key;
  const key = await parseKey(keyText.trim() || served);
  const results = [];
  const report = (ok, title, detail, steps) => results.push({ ok, title, detail, steps });
  report(true, "The public key is well formed", `${key.name}, SHA-256 fingerprint ${key.fingerprint}${keyText.trim() ? ", which you have brought" : ", as the service gives it: compare it with one that you know"}`);
  const newestNote = await getText("/api/audit/checkpoint");
  const newest = await openCheckpoint(newestNote, key);
  report(true, "The newest checkpoint is signed by this key", `It covers positions 1 to ${newest.size}, root ${hex(newest.root)}`);
  if (note.trim()) {
    const kept = await openCheckpoint(note, key);
    report(true, "Your checkpoint is signed by this key", `It covers positions 1 to ${kept.size}, root ${hex(kept.root)}`);
    if (kept.size > newest.size) throw new ProofError(`your checkpoint covers ${kept.size} entries, and the log now says it has ${newest.size}: its end was removed`);
    const path = kept.size === newest.size ? [] : (await get("/api/audit/proofs/consistency", { first: kept.size, second: newest.size })).data.hashes.map(fromBase64);
    const roots = await rootsByConsistency(kept.root, kept.size, newest.size, path);
    if (!same(roots.first, kept.root) || !same(roots.second, newest.root)) throw new ProofError("the log of your checkpoint is not the beginning of this log: it was changed");
    report(true, "The log has only grown since your checkpoint", `Nothing of its first ${kept.size} entries was changed or removed.`, roots.steps);
  }
  if (position) await checkEntry({ position, newest, me, report });
  return { results, newestNote };
}

async function checkEntry({ position, newest, me, report }) {
  if (position > newest.size) throw new ProofError(`position ${position} isn't in the newest checkpoint yet, which covers ${newest.size}; try again in some seconds`);
  const proof = (await get("/api/audit/proofs/inclusion", { position, size: newest.size })).data;
  let leaf = fromBase64(proof.leaf_hash);
  if (seesEverything(me)) {
    const entry = (await get(`/api/audit/events/${position}`)).data;
    const computed = await leafOf(entry.recorded);
    if (!same(computed, leaf)) throw new ProofError(`the entry at position ${position} doesn't have the hash of its leaf: it was changed`);
    leaf = computed;
    report(true, `The entry at position ${position} has the hash of its leaf`, `${entry.actor ?? "somebody"} ${entry.what}, recorded at ${shown(entry.recorded_at)}. Hash ${hex(computed)}`);
  } else {
    report(null, "The entry itself wasn't read", "Reading entries is for superusers and auditors; what follows is about the hash that the service gives.");
  }
  const { root, steps } = await rootByInclusion(leaf, position - 1, newest.size, proof.hashes.map(fromBase64));
  if (!same(root, newest.root)) throw new ProofError(`the proof for position ${position} doesn't lead to the root of the signed checkpoint`);
  report(true, `Position ${position} is in the signed log`, `${steps.length} hashes lead from it to the root of the checkpoint.`, steps);
}

function Result({ result }) {
  return html`<li class=${result.ok === null ? "warning" : "done"}><strong>${result.ok === null ? "–" : "✓"} ${result.title}.</strong>
    <p class="hash">${result.detail}</p>
    ${result.steps?.length > 0 && html`<details><summary>${result.steps.length} hashes</summary><ol>${result.steps.map((step) => html`<li class="hash">with ${hex(step.sibling)}<br />gives ${hex(step.hash)}</li>`)}</ol></details>`}</li>`;
}

function Verdict({ state, position, note }) {
  if (state.busy) return html`<p class="working" role="status">Checking …</p>`;
  const { error, done } = state;
  if (error) {
    return error instanceof ProofError
      ? html`<div class="failure" role="alert"><p class="figure">✕ Not genuine</p><p>${error.message}.</p><p>Keep your checkpoint, and tell whoever is responsible for the service.</p></div>`
      : html`<${Failure} error=${error} />`;
  }
  if (!done) return null;
  const what = [position && `the entry at position ${position} is in the signed log`, note.trim() && "nothing was changed or removed since your checkpoint"].filter(Boolean);
  return html`<div class="done" role="status"><p class="figure">✓ Genuine</p><p>${what.length ? what.join(", and ") : "The newest checkpoint is signed"}. This was computed in your browser.</p>
    ${!note.trim() && html`<p>Keep a checkpoint, and bring it next time: it shows that nothing was changed in between.</p>`}</div>
    <ol class="plain-list">${done.results.map((result) => html`<${Result} result=${result} />`)}</ol>
    <p class="buttons"><button type="button" class="quiet" onClick=${() => saveAs(new Blob([done.newestNote], { type: "text/plain" }), "checkpoint.txt")}>Save this checkpoint to keep</button></p>`;
}

export default function Verify({ query }) {
  const me = useMe();
  const [note, setNote] = useState("");
  const [keyText, setKeyText] = useState("");
  const [position, setPosition] = useState(query.position ?? "");
  const [state, setState] = useState({});
  useEffect(() => setPosition(query.position ?? ""), [query.position]);
  const number = /^[1-9]\d{0,14}$/.test(position.trim()) ? Number(position.trim()) : null;
  const run = async (event) => {
    event.preventDefault();
    setState({ busy: true });
    setQuery({ position: position.trim() });
    try {
      setState({ done: await check({ note, keyText, position: number, me }) });
    } catch (error) {
      setState({ error });
    }
  };
  const choose = async (event) => {
    const [file] = event.target.files;
    if (file) setNote(await file.text());
  };
  return html`<${Page} title="Verify" lead="Checks that the log is the one that was signed, and that an entry is in it. Bring a checkpoint that you kept, from this page, a backup, or the topic of checkpoints; the sums are done here, not by the service.">
    <form class="stack" onSubmit=${run}>
      <${Field} label="Position of the entry" value=${position} onValue=${setPosition} inputmode="numeric" pattern="[1-9][0-9]{0,14}" help="As shown in the audit trail and in explanations. Empty: check the log only." />
      <${Field} label="Your checkpoint" value=${note} onValue=${setNote} lines=${5} help="Paste it, or choose its file. Empty: only the newest one is checked." />
      <div class="field"><label for="checkpoint-file">Checkpoint from a file</label><input id="checkpoint-file" type="file" accept=".txt,text/plain" onChange=${choose} /></div>
      <${Field} label="Public key that you know" value=${keyText} onValue=${setKeyText} help="name+id+key. Empty: the key that the service gives is used, and you compare its fingerprint." />
      <button type="submit" disabled=${state.busy}>Verify</button>
    </form>
    <${Verdict} state=${state} position=${number} note=${note} />
    ${seesEverything(me) && html`<p class="meta">Positions are in the <a href=${link("audit")}>audit trail</a>.</p>`}
  <//>`;
}
