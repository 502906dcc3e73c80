// One entry of the audit trail: its sentence, what it changed, and how it is recorded.
import { Facts, Page, Reading, Table } from "../app/parts.js";
import { Named } from "../app/names.js";
import { useRead } from "../app/reads.js";
import { link } from "../app/route.js";
import { Time } from "../app/time.js";
import { html } from "../app/ui.js";

const KINDS = { agent: "agents", connector: "connectors", user: "users" };

const value = (given) => (given === null || given === undefined ? html`<span class="none">–</span>` : html`<code>${typeof given === "string" ? given : JSON.stringify(given)}</code>`);

const COLUMNS = [
  { label: "Field", cell: (row) => html`<code>${row.path}</code>` },
  { label: "What", cell: (row) => row.what },
  { label: "Before", wide: true, cell: (row) => html`<del>${value(row.before)}</del>` },
  { label: "After", wide: true, cell: (row) => html`<ins>${value(row.after)}</ins>` },
];

function parsed(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function Resource({ resource }) {
  if (!resource) return null;
  const kind = KINDS[resource.kind];
  const named = kind ? html`<${Named} kind=${kind} id=${resource.id} />` : html`<bdi>${resource.name ?? resource.id}</bdi>`;
  return html`${resource.kind} ${named} (<a href=${link("audit", { resource: resource.id })}>its history</a>)`;
}

export default function Entry({ id }) {
  const read = useRead(`/api/audit/events/${encodeURIComponent(id)}`);
  const entry = read.data;
  return html`<${Page} title="Entry ${id}">
    <${Reading} read=${read} what="Reading the entry">${() => html`
      <p class="figure"><bdi>${entry.actor ?? entry.actor_id}</bdi> ${entry.what}</p>
      <${Facts} facts=${[
        ["When", html`<${Time} at=${entry.recorded_at} />`],
        ["Who", html`<${Named} kind="users" id=${entry.actor_id} />`],
        ["About", html`<${Resource} resource=${entry.resource} />`],
        ["Kind", html`<code>${entry.kind}</code>`],
        ["Version", entry.version],
        ["Request", entry.request_id ? html`<a href=${link("audit", { request_id: entry.request_id })}>${entry.request_id}</a>` : undefined],
        ["Token", entry.token_id ? html`<code>${entry.token_id}</code>` : undefined],
        ["Trace", entry.trace_id ? html`<code>${entry.trace_id}</code>` : undefined],
      ]} />
      <p class="buttons"><a href=${link("verify", { position: entry.position })}>Verify this entry</a></p>
      <h2>Before and after</h2>
      ${entry.changes === null ? html`<p class="empty">The events of this resource can't be read, so there is no comparison.</p>`
        : html`<${Table} caption="Fields that this entry changed" columns=${COLUMNS} rows=${entry.changes} rowKey=${(row) => row.path} empty="It changed no field of a resource." />`}
      <h2>As recorded</h2>
      <p class="meta">Exactly as the log stores it; this is what its hash is made of.</p>
      <pre tabindex="0">${JSON.stringify({ ...entry.recorded, metadata: undefined, state: undefined }, null, 2)}</pre>
      <h3>Metadata</h3><pre tabindex="0">${parsed(entry.recorded.metadata)}</pre>
      <h3>State</h3><pre tabindex="0">${entry.recorded.state === undefined ? entry.recorded.state_base64 : parsed(entry.recorded.state)}</pre>
      <nav class="paging" aria-label="Neighbours">${entry.position > 1 && html`<a href=${link(["audit", entry.position - 1])}>Position ${entry.position - 1}</a>`}<a href=${link(["audit", entry.position + 1])}>Position ${entry.position + 1}</a></nav>`}<//>
  <//>`;
}
