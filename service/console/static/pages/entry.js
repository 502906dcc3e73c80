// One entry of the audit trail: before and after, and as recorded.
import { leafOf } from "../app/leaf.js";
import { FOR_AUDITORS, has, seesEverything, useMe } from "../app/me.js";
import { toBase64 } from "../app/merkle.js";
import { Copy, Facts, NotOffered, Page, Reading, Table } from "../app/parts.js";
import { useRead } from "../app/reads.js";
import { link } from "../app/route.js";
import { Sentence } from "../app/sentence.js";
import { Time } from "../app/time.js";
import { html, useEffect, useState } from "../app/ui.js";
import { asText } from "../app/visible.js";

const CHANGE_COLUMNS = [
  { label: "Field", cell: (change) => html`<code>${change.path}</code>` },
  { label: "What", cell: (change) => change.what },
  { label: "Before", wide: true, cell: (change) => (change.what === "added" ? html`<span class="none">–</span>` : html`<del class="value">${asText(change.before)}</del>`) },
  { label: "After", wide: true, cell: (change) => (change.what === "removed" ? html`<span class="none">–</span>` : html`<ins class="value">${asText(change.after)}</ins>`) },
];

const filter = (name, value) => (value ? html`<a href=${link("audit", { [name]: value })}><code>${value}</code></a>` : null);

function factsOf(entry) {
  return [
    ["Position", entry.position],
    ["Recorded", html`<${Time} at=${entry.recorded_at} />`],
    ["By", html`<bdi>${entry.actor ?? "unknown"}</bdi>${entry.actor_id && html`<br />${filter("actor", entry.actor_id)}`}`],
    ["Kind", filter("kind", entry.kind)],
    ["Changed", html`${entry.resource.kind} ${entry.resource.name && html`<bdi>${entry.resource.name}</bdi>`}<br />${filter("resource", entry.resource.id)}`],
    ["To its version", entry.version],
    ["In request", filter("request_id", entry.request_id)],
    ["With token", entry.token_id && html`<code>${entry.token_id}</code>`],
    ["Trace", entry.trace_id ? html`<code>${entry.trace_id}</code>` : undefined],
    ["From address", entry.address ? html`<code>${entry.address}</code>` : undefined],
  ];
}

function Changes({ changes }) {
  if (changes === null) return html`<p class="warning">The earlier events of this resource can't be read by this version of the service.</p>`;
  return html`<${Table} caption="The resource before and after this entry" hideCaption=${true} columns=${CHANGE_COLUMNS} rows=${changes} rowKey=${(change) => change.path} empty="The entry changed no field: it records that something happened." />`;
}

function Leaf({ recorded }) {
  const [leaf, setLeaf] = useState(null);
  useEffect(() => {
    leafOf(recorded).then(toBase64, () => null).then(setLeaf);
  }, [recorded]);
  return leaf && html`<p>Its leaf in the Merkle tree, computed by your browser from the record above: <span class="hash">${leaf}</span></p>
    <p><a class="button" href=${link("verify", { position: recorded.position, leaf })}>Verify that this record is genuine</a></p>`;
}

function Recorded({ recorded }) {
  const hasProofs = has(useMe(), "proofs");
  const text = JSON.stringify(recorded, null, 2);
  return html`<section><h2>As recorded</h2>
    <pre>${text}</pre>
    <p class="buttons"><${Copy} label="Copy the JSON" text=${() => text} /></p>
    ${hasProofs && html`<${Leaf} recorded=${recorded} />`}
  </section>`;
}

function Entry({ position }) {
  const read = useRead(`/api/audit/events/${encodeURIComponent(position)}`);
  const near = (at, label) => html`<a href=${link(["audit", at])}>${label}</a>`;
  return html`<${Page} title="Entry ${position}">
    <nav class="paging" aria-label="Entries"><a href=${link("audit")}>Audit trail</a>${Number(position) > 1 && near(Number(position) - 1, "Entry before")}${near(Number(position) + 1, "Next entry")}</nav>
    <${Reading} read=${read} what="Reading the entry">${() => html`
      <p class="lead statement"><${Sentence} entry=${read.data} />.</p>
      <${Facts} facts=${factsOf(read.data)} />
      <h2>Before and after</h2>
      <${Changes} changes=${read.data.changes} />
      <${Recorded} recorded=${read.data.recorded} />`}<//>
  <//>`;
}

export default function EntryPage({ id }) {
  if (!seesEverything(useMe())) return html`<${Page} title="Entry ${id}"><${NotOffered} what="Entries of the audit trail" reason=${FOR_AUDITORS} /><//>`;
  return html`<${Entry} position=${id} />`;
}
