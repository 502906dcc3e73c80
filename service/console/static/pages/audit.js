// Who did what: sentences first; filters, live entries with a pause, exports.
import { useAction, Outcome } from "../app/actions.js";
import { download, stream } from "../app/api.js";
import { options, useList } from "../app/names.js";
import { Cut, Filters, Page, Paging, Reading, Table } from "../app/parts.js";
import { useRead } from "../app/reads.js";
import { link } from "../app/route.js";
import { Time, parseMoment } from "../app/time.js";
import { html, useEffect, useState } from "../app/ui.js";

const LIVE_ROWS_MAX = 500;
const KINDS = [
  "agent", "audit.read", "connector", "connector.made_public", "connector.granted_to_agent", "log", "match_rules",
  "model_pricing", "provider", "refusal.recorded", "secret", "secret.revealed", "session", "session_texts.read", "token", "tool_rules", "user",
];
const COLUMNS = [
  { label: "Position", number: true, cell: (row) => html`<a href=${link(["audit", row.position])}>${row.position}</a>` },
  { label: "Time", cell: (row) => html`<${Time} at=${row.recorded_at} />` },
  { label: "Who", cell: (row) => html`<${Cut} text=${row.actor ?? row.actor_id} length=${40} />` },
  { label: "What", wide: true, cell: (row) => html`<${Cut} text=${row.what} length=${300} />` },
  { label: "Kind", cell: (row) => html`<code>${row.kind}</code>` },
];

function filtersOf(query) {
  return {
    actor: query.actor,
    kind: query.kind,
    resource: query.resource,
    request_id: query.request_id,
    from_time: parseMoment(query.from) ?? undefined,
    until_time: parseMoment(query.until) ?? undefined,
  };
}

function Live({ query, stop }) {
  const [rows, setRows] = useState([]);
  const [paused, setPaused] = useState(false);
  const [error, setError] = useState(null);
  const [after, setAfter] = useState(undefined);
  const { actor, kind, resource } = filtersOf(query);
  useEffect(() => {
    if (paused) return undefined;
    const controller = new AbortController();
    const follow = async () => {
      try {
        for await (const entry of stream("/api/audit/stream", { actor, kind, resource, after }, controller.signal)) {
          setRows((before) => [entry, ...before].slice(0, LIVE_ROWS_MAX));
        }
      } catch (failure) {
        if (failure.name !== "AbortError") setError(failure);
      }
    };
    follow();
    return () => controller.abort();
  }, [paused, actor, kind, resource, after]);
  const toggle = () => {
    if (paused) setAfter(rows[0]?.position);
    setPaused(!paused);
  };
  return html`<section aria-label="Live entries">
    <p class="buttons"><button type="button" onClick=${toggle}>${paused ? "Go on" : "Pause"}</button><button type="button" class="quiet" onClick=${stop}>Back to the pages</button>
      <span role="status">${paused ? "Paused; nothing is lost: it goes on where it stopped." : `Live: ${rows.length} entries since you began, at most ${LIVE_ROWS_MAX} are kept.`}</span></p>
    <${Outcome} action=${{ error, message: null }} />
    <${Table} caption="Live entries, newest first" columns=${COLUMNS} rows=${rows} rowKey=${(row) => row.position} empty="Waiting for the next entry …" />
  </section>`;
}

export default function Audit({ query }) {
  const users = useList("users");
  const [live, setLive] = useState(false);
  const asked = filtersOf(query);
  const read = useRead(live ? null : "/api/audit/events", { ...asked, order: query.order, limit: 50, after: query.after });
  const saving = useAction((format) => download(`/api/audit/export.${format}`, asked, `audit.${format}`).then(() => ({ message: "saved by your browser" })));
  const fields = [
    { name: "actor", label: "Who", choices: options(users) },
    { name: "kind", label: "Kind", choices: KINDS },
    { name: "resource", label: "About the id" },
    { name: "from", label: "From", placeholder: "2026-05-31 14:00" },
    { name: "until", label: "Until", placeholder: "now" },
    { name: "request_id", label: "Request id" },
    { name: "order", label: "Order", choices: [{ value: "oldest", label: "oldest first" }], any: "newest first" },
  ];
  return html`<${Page} title="Audit trail" lead="Everything that changed, and every read of this history: yours is in it, too.">
    <${Filters} fields=${fields} />
    ${query.resource && html`<p class="meta">About <code>${query.resource}</code>.</p>`}
    ${live ? html`<${Live} query=${query} stop=${() => setLive(false)} />` : html`
      <p class="buttons"><button type="button" class="quiet" onClick=${() => setLive(true)}>Live</button>
        <button type="button" class="quiet" disabled=${saving.busy} onClick=${() => saving.run("csv")}>Export CSV</button>
        <button type="button" class="quiet" disabled=${saving.busy} onClick=${() => saving.run("jsonl")}>Export JSON Lines</button></p>
      <${Outcome} action=${saving} />
      <${Reading} read=${read} what="Reading the audit trail">${() => html`
        <${Table} caption="Entries" hideCaption=${true} columns=${COLUMNS} rows=${read.data.entries} rowKey=${(row) => row.position} empty="No entry matches these filters." />
        <${Paging} path="audit" shown=${read.data.entries.length} next=${read.data.end_cursor} />`}<//>`}
  <//>`;
}
