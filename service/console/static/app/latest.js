// What agents did last: their tool calls, with the reason of each decision, and their
// sessions with the costs.
import { Decided, ToolOf, becauseOf } from "./calls.js";
import { money } from "./format.js";
import { has, useMe } from "./me.js";
import { OF_AGENT } from "./names.js";
import { Badge, Cut, Reading, Table } from "./parts.js";
import { useRead } from "./reads.js";
import { link } from "./route.js";
import { linkedTime } from "./time.js";
import { html } from "./ui.js";

const SHOWN = 5;

const asked = (approval) => ({ ...approval, at: approval.requested_at, decision: "asked", href: link(["approvals", approval.agent_id, approval.id]) });

function Decision({ row }) {
  if (row.decision === "asked") return html`<${Badge} kind="ask">? ask<//> <a href=${row.href}>waits for a person</a>`;
  return html`${row.decision === "refused" && html`<${Decided} call=${row} /> `}${becauseOf(row)}`;
}

const CALLS = [
  { label: "Time", cell: (row) => linkedTime(row.at, row.href ?? link(["calls", row.id])) },
  { label: "Tool", cell: (row) => html`<${ToolOf} call=${row} />` },
  { label: "Decision", cell: (row) => html`<${Decision} row=${row} />` },
  OF_AGENT,
];

const SESSIONS = [
  { label: "Start", cell: (row) => linkedTime(row.start_time, link(["sessions", row.session_id])) },
  { label: "Cost", number: true, cell: (row) => money(row.cost_summary.total.cost, row.cost_summary.total.currency) },
  { label: "First input", rest: true, cell: (row) => html`<${Cut} text=${row.first_input} length=${30} />` },
];

// Of every row, newest first, the first few.
const newest = (rows) => rows.sort((one, other) => Date.parse(other.at) - Date.parse(one.at)).slice(0, SHOWN);

// `approvals` is the read of those that wait. Without the gateway there are no calls.
export function Latest({ approvals }) {
  const hasGateway = has(useMe(), "gateway");
  const calls = useRead(hasGateway ? "/api/mcp/calls" : null, { limit: SHOWN });
  const sessions = useRead("/api/observability/session/list", { limit: SHOWN });
  const read = [calls, approvals].find((each) => each.error) ?? [calls, approvals].find((each) => !each.data) ?? calls;
  return html`<div class=${hasGateway ? "columns wide-first" : undefined}>
    ${hasGateway && html`<section><h2>Latest tool calls</h2><${Reading} read=${read}>${() => html`
      <${Table} caption="Latest tool calls" hideCaption=${true} columns=${CALLS} rows=${newest([...(approvals.data?.approvals ?? []).map(asked), ...(calls.data?.calls ?? [])])}
        empty="No tool call that you may see." />`}<//></section>`}
    <section><h2>Latest sessions</h2><${Reading} read=${sessions}>${() => html`
      <${Table} caption="Latest sessions" hideCaption=${true} columns=${SESSIONS} rows=${sessions.data.sessions}
        empty="No session of the last 7 days." />`}<//></section>
  </div>`;
}
