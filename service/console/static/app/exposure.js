// Who could use a connector between two moments, as bars and as a table.
import { Cause } from "./explaining.js";
import { Named, useList } from "./names.js";
import { Filters, Reading, Table } from "./parts.js";
import { useRead } from "./reads.js";
import { WrongTimes, momentsOf } from "./time.js";
import { Timeline } from "./timeline.js";
import { html } from "./ui.js";

const at = (event) => (event ? Date.parse(event.recorded_at) : null);

const COLUMNS = [
  { label: "Who", cell: (row) => (row.agent_id ? html`<${Named} kind="agents" id=${row.agent_id} />` : "everybody, as it was public") },
  { label: "Since", cell: (row) => (row.since ? html`<${Cause} event=${row.since} />` : "before") },
  { label: "Until", cell: (row) => (row.until ? html`<${Cause} event=${row.until} />` : "still") },
];

export function Exposure({ connector, query }) {
  const agents = useList("agents");
  const { sent, wrong } = momentsOf(query, ["since", "until"]);
  const read = useRead(wrong.length ? null : `/api/audit/connectors/${connector.id}/exposure`, { ...sent, since: sent.since ?? connector.created_at });
  const nameOf = (id) => agents.find((agent) => agent.id === id)?.name ?? id.slice(0, 8);
  const fields = [
    { name: "since", label: "Since", placeholder: "its registration" },
    { name: "until", label: "Until", placeholder: "now" },
  ];
  return html`<${Filters} fields=${fields} /><${WrongTimes} wrong=${wrong} />${wrong.length === 0 && html`<${Reading} read=${read} what="Reading the exposure">${() => {
    const rows = [...read.data.publications, ...read.data.grants];
    const times = rows.flatMap((row) => [at(row.since), at(row.until)]).filter(Boolean);
    const from = Math.min(Date.parse(connector.created_at), ...times);
    const until = Math.max(read.readAt, ...times);
    const lanes = new Map();
    for (const row of rows) {
      const label = row.agent_id ? nameOf(row.agent_id) : "everybody (public)";
      lanes.set(label, [...(lanes.get(label) ?? []), { from: at(row.since), until: at(row.until), alt: !row.agent_id }]);
    }
    return html`${rows.length > 0 && html`<${Timeline} caption="Who could use it" from=${from} until=${until} lanes=${[...lanes].map(([label, spans]) => ({ label, spans }))} />`}
      <${Table} caption="Periods in which it could be used" columns=${COLUMNS} rows=${rows} rowKey=${(_, index) => index} empty="Nobody but its owner could use it in this time." />`;
  }}<//>`}`;
}
