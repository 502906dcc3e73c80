// The inbox: what agents ask persons to approve.
// Shows: what agents ask persons for
// Does: approves once, refuses, withdraws
import { FOR_DECIDERS, STATE_CHOICES, State, Until, useMayDecide } from "../app/approvals.js";
import { ToolName } from "../app/calls.js";
import { Refreshing } from "../app/live.js";
import { Named, OF_AGENT, OF_CONNECTOR, options, useList } from "../app/names.js";
import { Filters, Page, Paging, Reading, Table } from "../app/parts.js";
import { useRead } from "../app/reads.js";
import { link } from "../app/route.js";
import { linkedTime } from "../app/time.js";
import { html, useState } from "../app/ui.js";

const ALL = "all";
const LEAD = "Calls that an agent may make only if a person approves them, one by one. Open one to see what is asked, and to decide.";

const columnsOf = (may) => [
  { label: "Asked", sort: (row) => row.requested_at, cell: (row) => linkedTime(row.requested_at, link(["approvals", row.agent_id, row.id])) },
  { label: "State", sort: (row) => row.state, cell: (row) => html`<${State} state=${row.state} />` },
  OF_AGENT,
  OF_CONNECTOR,
  { label: "Tool", sort: (row) => row.tool, cell: (row) => html`<${ToolName} name=${row.tool} />` },
  { label: "For", cell: (row) => html`<${Named} kind="users" id=${row.user_id} plain=${true} />` },
  { label: "Until", sort: (row) => row.expires_at, cell: (row) => html`<${Until} approval=${row} />` },
  { label: "You", cell: (row) => ({ true: "may decide", false: "may look" })[may(row)] ?? "…" },
];

export default function Approvals({ query }) {
  const [on, setOn] = useState(true);
  const state = query.state ?? "pending";
  const read = useRead("/api/mcp/approvals", {
    state: state === ALL ? undefined : state,
    agent_id: query.agent_id,
    connector_id: query.connector_id,
    limit: 50,
    after: query.after,
  });
  const may = useMayDecide(read.data?.approvals ?? []);
  const fields = [
    { name: "state", label: "State", choices: [...STATE_CHOICES, { value: ALL, label: "any" }], any: null, fallback: "pending" },
    { name: "agent_id", label: "Agent", choices: options(useList("agents")) },
    { name: "connector_id", label: "Connector", choices: options(useList("connectors")) },
  ];
  const empty = state === "pending"
    ? "Nobody waits for an approval that you may see. An agent asks when a rule with the stance ask decides on its call."
    : "No approval matches that you may see.";
  return html`<${Page} title="Approvals" lead=${LEAD}>
    <${Filters} fields=${fields} />
    <${Refreshing} on=${on} setOn=${setOn} read=${read} />
    <${Reading} read=${read} what="Reading approvals">${() => html`
      <${Table} caption="Approvals, latest first" hideCaption=${true} columns=${columnsOf(may)} rows=${read.data.approvals} rowKey=${(row) => `${row.id} ${row.requested_at}`} empty=${empty} />
      ${read.data.approvals.some((row) => may(row) === false) && html`<p class="not-offered">Deciding is ${FOR_DECIDERS}.</p>`}
      <${Paging} path="approvals" shown=${read.data.approvals.length} next=${read.data.end_cursor} />`}<//>
  <//>`;
}
