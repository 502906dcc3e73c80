// Tool calls of agents through the gateway, refusals too.
// Shows: tool calls and refusals, with the rules, grant and definition of then
import { CallTable, OUTCOME_CHOICES } from "../app/calls.js";
import { seesEverything, useMe } from "../app/me.js";
import { options, useList } from "../app/names.js";
import { Filters, Page, Paging, Reading } from "../app/parts.js";
import { useRead } from "../app/reads.js";
import { WrongTimes, windowOf } from "../app/time.js";
import { html } from "../app/ui.js";

const DECISIONS = ["admitted", "refused"];
const LEAD = "What agents called, and what they were refused. Arguments and results are never recorded.";
const OWN = " These are the calls of agents that you manage, of your connectors, and those made for you.";

export default function Calls({ query }) {
  const users = useList("users");
  const { sent, wrong } = windowOf(query);
  const read = useRead(wrong.length ? null : "/api/mcp/calls", {
    ...sent,
    agent_id: query.agent_id,
    connector_id: query.connector_id,
    user_id: query.user_id,
    tool: query.tool?.trim(),
    decision: query.decision,
    outcome: query.outcome,
    session_id: query.session_id?.trim(),
    limit: query.limit ?? "25",
    after: query.after,
  });
  const fields = [
    { name: "from", label: "From", placeholder: "2026-05-31 14:00" },
    { name: "until", label: "Until", placeholder: "now" },
    { name: "agent_id", label: "Agent", choices: options(useList("agents")) },
    { name: "connector_id", label: "Connector", choices: options(useList("connectors")) },
    { name: "tool", label: "Tool", placeholder: "its whole name" },
    { name: "decision", label: "Decision", choices: DECISIONS },
    { name: "outcome", label: "Outcome", choices: OUTCOME_CHOICES },
    users.length > 0 && { name: "user_id", label: "For user", choices: options(users) },
    { name: "session_id", label: "Session id" },
    { name: "limit", label: "Rows", choices: ["25", "50", "100"], any: null, fallback: "25" },
  ].filter(Boolean);
  return html`<${Page} title="Calls" lead=${seesEverything(useMe()) ? LEAD : LEAD + OWN}>
    <${Filters} fields=${fields} />
    <${WrongTimes} wrong=${wrong} />
    ${wrong.length === 0 && html`<${Reading} read=${read} what="Reading calls">${() => html`
      <${CallTable} calls=${read.data.calls} empty="No call matches. Agents call tools at /mcp/agents/ and their id, with a token from their page." />
      <${Paging} path="calls" shown=${read.data.calls.length} next=${read.data.end_cursor} />`}<//>`}
  <//>`;
}
