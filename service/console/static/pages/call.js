// One tool call: what came of it, and why it was decided so.
import { Decided, OUTCOME_MEANS, Outcome, ToolOf, refusalOf } from "../app/calls.js";
import { Decision } from "../app/explaining.js";
import { number } from "../app/format.js";
import { has, seesEverything, useMe } from "../app/me.js";
import { Named } from "../app/names.js";
import { Facts, Page, Reading, Stance } from "../app/parts.js";
import { useRead } from "../app/reads.js";
import { link } from "../app/route.js";
import { Time, duration } from "../app/time.js";
import { html } from "../app/ui.js";

const MODES = { strict: "strict: recorded before it was forwarded", batched: "batched: recorded within 100 ms" };
const bytes = (count) => (count === null ? undefined : `${number(count)} bytes`);

function factsOf(call, everything, hasProofs) {
  return [
    ["Time", html`<${Time} at=${call.at} />`],
    ["Decision", html`<${Decided} call=${call} />`],
    ["Because", call.decision === "refused" ? refusalOf(call) : html`<${Stance} stance=${call.stance} /> by the rule <code>${call.rule}</code>`],
    ["Outcome", call.outcome ? html`<${Outcome} outcome=${call.outcome} />` : undefined],
    ["Agent", html`<${Named} kind="agents" id=${call.agent_id} />`],
    ["Tool", html`<${ToolOf} call=${call} />`],
    ["Connector", html`<${Named} kind="connectors" id=${call.connector_id} />`],
    ["For", call.user_id ? html`<${Named} kind="users" id=${call.user_id} />` : "nobody in particular"],
    ["With token", html`<code>${call.token_id}</code>`],
    ["Approval", call.approval_id ? html`<a href=${link(["approvals", call.agent_id, call.approval_id])}>of a person</a>` : undefined],
    ["Took", call.duration_ms === null ? undefined : `${duration(call.duration_ms)}, of which the tool's server ${duration(call.upstream_ms)}`],
    ["Sent", bytes(call.request_bytes)],
    ["Received", bytes(call.answer_bytes)],
    ["Session", call.session_id ? html`<a href=${link(["sessions", call.session_id])}><code>${call.session_id}</code></a>` : undefined],
    ["Trace", call.trace_id ? html`<code>${call.trace_id}</code>` : undefined],
    ["Definition", call.definition ? html`<code class="hash">${call.definition.slice(0, 12)}…</code> (<a href=${link(["definitions", call.connector_id])}>definitions</a>)` : undefined],
    ["Recorded", html`${MODES[call.record_mode] ?? call.record_mode}, at position ${everything ? html`<a href=${link(["audit", call.position])}>${call.position}</a>` : call.position}${hasProofs && html` (<a href=${link("verify", { position: call.position })}>verify</a>)`}`],
  ];
}

function Explained({ call }) {
  if (call.explanation === null) return html`<h2>Why</h2><p>No connector of the agent lists a tool of that name, so there was nothing to decide.</p>`;
  const { agent_id: agent, connector_id: connector, tool } = call;
  return html`<${Decision} title="Why: rules, grant and definition as they were" read=${{ data: call.explanation }} />
    <p><a href=${link("explain", { agent, connector, tool, at: call.explanation.position, other: "now" })}>Compare with now</a></p>`;
}

export default function Call({ id }) {
  const read = useRead(`/api/mcp/calls/${encodeURIComponent(id)}`);
  const me = useMe();
  return html`<${Page} title="Tool call" lead=${html`<code>${id}</code>`}>
    <p><a href=${link("calls")}>All calls</a></p>
    <${Reading} read=${read} what="Reading the call">${() => html`
      <${Facts} facts=${factsOf(read.data, seesEverything(me), has(me, "proofs"))} />
      ${read.data.outcome && html`<p>${OUTCOME_MEANS[read.data.outcome]}</p>`}
      <${Explained} call=${read.data} />`}<//>
  <//>`;
}
