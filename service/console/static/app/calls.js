// Tool calls of agents through the gateway: what their words mean, and a table of them.
import { number } from "./format.js";
import { OF_AGENT, OF_CONNECTOR } from "./names.js";
import { Badge, Stance, Table } from "./parts.js";
import { link } from "./route.js";
import { duration, linkedTime } from "./time.js";
import { html } from "./ui.js";
import { Visible } from "./visible.js";

const OUTCOMES = {
  ok: ["allow", "✓ ok"],
  tool_error: ["deny", "✕ tool error"],
  upstream_error: ["deny", "✕ server error"],
  timeout: ["deny", "✕ timeout"],
  too_large: ["deny", "✕ answer too large"],
  not_sent: ["deny", "✕ not sent"],
  cancelled: ["plain", "– cancelled"],
  running: ["ask", "… running"],
  unknown: ["ask", "? end not recorded"],
};
export const OUTCOME_CHOICES = Object.entries(OUTCOMES).map(([value, [, label]]) => ({ value, label: label.slice(2) }));

export const OUTCOME_MEANS = {
  ok: "The tool has answered.",
  tool_error: "The tool has answered with an error.",
  upstream_error: "The tool's server can't be reached, or has answered with something that isn't MCP.",
  timeout: "The tool's server did not answer in time.",
  too_large: "The answer was larger than agents are given.",
  not_sent: "It was admitted and not sent.",
  cancelled: "The agent's client closed its connection.",
  running: "Its end isn't recorded yet.",
  unknown: "Its end was never recorded: the process may have been ended meanwhile.",
};

export const REFUSALS = {
  unknown_tool: "no such tool",
  connector_not_granted: "the agent doesn't hold the connector",
  denied: "denied by the rules",
  definition_changed: "the definition has changed and isn't accepted",
  approval_refused: "a person refused it",
  approval_expired: "nobody approved it in time",
  approval_withdrawn: "its approval was withdrawn",
  too_many_approvals: "too many pending approvals",
  credential_missing: "the credential is missing",
  too_many_calls: "too many calls in flight",
  circuit_open: "suspended after failures",
  not_connected: "no connection",
};

export const refusalOf = (call) => REFUSALS[call.reason] ?? call.reason;

export const becauseOf = (call) => (call.decision === "refused" ? refusalOf(call) : html`<${Stance} stance=${call.stance} /> <code>${call.rule}</code>`);

export function Outcome({ outcome }) {
  if (!outcome) return html`<span class="none">–</span>`;
  const [kind, label] = OUTCOMES[outcome] ?? ["plain", outcome];
  return html`<${Badge} kind=${kind}>${label}<//>`;
}

export function Decided({ call }) {
  if (call.decision === "admitted") return html`<${Badge} kind="allow">✓ admitted<//>`;
  return html`<${Badge} kind="deny">✕ refused${call.times > 1 ? `, ${number(call.times)} times` : ""}<//>`;
}

// The tool of a call, or the name that the agent gave for one that isn't known.
export const ToolOf = ({ call }) => (call.tool === null && call.asked_for ? html`<span class="meta">asked for</span> <${ToolName} name=${call.asked_for} />` : html`<${ToolName} name=${call.tool} />`);

export const ToolName = ({ name }) => (name === null ? html`<span class="none">–</span>` : html`<code><${Visible} text=${name} /></code>`);

const COLUMNS = [
  { label: "Time", cell: (row) => linkedTime(row.at, link(["calls", row.id])) },
  OF_AGENT,
  OF_CONNECTOR,
  { label: "Tool", sort: (row) => row.tool ?? row.asked_for, cell: (row) => html`<${ToolOf} call=${row} />` },
  { label: "Decision", sort: (row) => row.decision, cell: (row) => html`<${Decided} call=${row} />` },
  { label: "Because", cell: becauseOf },
  { label: "Outcome", sort: (row) => row.outcome, cell: (row) => html`<${Outcome} outcome=${row.outcome} />` },
  { label: "Took", number: true, sort: (row) => row.duration_ms, cell: (row) => duration(row.duration_ms) },
];

export const CallTable = ({ calls, caption = "Tool calls", hideCaption = true, empty }) =>
  html`<${Table} caption=${caption} hideCaption=${hideCaption} columns=${COLUMNS} rows=${calls} empty=${empty} />`;
