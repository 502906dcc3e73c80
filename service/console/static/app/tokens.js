// Issuing tokens, each of which is shown once; and those with which an agent calls tools.
import { Confirmed, FormDialog } from "./actions.js";
import { call } from "./api.js";
import { useMe } from "./me.js";
import { Named } from "./names.js";
import { Badge, Field, NotOffered, Reading, Table } from "./parts.js";
import { useRead } from "./reads.js";
import { Time, timeOf } from "./time.js";
import { html, useState } from "./ui.js";

// `extra` goes into the body of the request; `children` are more fields.
export function IssueToken({ path, extra = {}, issued, children }) {
  const [label, setLabel] = useState("");
  const [until, setUntil] = useState("");
  const perform = async () => {
    return call("POST", path, { body: { label: label.trim(), ...extra, expires_at: timeOf(until) } });
  };
  return html`<${FormDialog} label="Issue a token" submit="Issue" perform=${perform} after=${issued}>
    <${Field} label="Label" name="label" value=${label} onValue=${setLabel} required=${true} maxlength="128" help="What it is for" />
    <${Field} label="Valid until" name="expires_at" value=${until} onValue=${setUntil} placeholder="until it is revoked" help="As in 2030-01-31 18:00" />
    ${children}
  <//>`;
}

export const FreshToken = ({ token, kept, children }) =>
  html`<div class="warning" role="status"><p>The new token, shown this once: <code>${token}</code></p>${children}<button type="button" class="quiet" onClick=${kept}>I have kept it</button></div>`;

export function tokenState(token, now = Date.now()) {
  if (token.revoked_at) return "revoked";
  return token.expires_at && Date.parse(token.expires_at) < now ? "expired" : "valid";
}

function columnsOf(path, changed) {
  return [
    { label: "Label", cell: (row) => html`<bdi>${row.label}</bdi>` },
    { label: "State", cell: (row) => html`<${Badge} kind=${tokenState(row) === "valid" ? "allow" : "plain"}>${tokenState(row)}<//>` },
    { label: "Calls for", cell: (row) => (row.user_id ? html`<${Named} kind="users" id=${row.user_id} plain=${true} />` : "nobody in particular") },
    { label: "Issued", cell: (row) => html`<${Time} at=${row.created_at} />, by <${Named} kind="users" id=${row.issued_by} plain=${true} />` },
    { label: "Valid until", cell: (row) => (row.expires_at ? html`<${Time} at=${row.expires_at} />` : "it is revoked") },
    { label: "Id", cell: (row) => html`<code>${row.id}</code>` },
    { label: "Change", cell: (row) => html`<${Confirmed} label="Revoke" title="Revoke this token?" danger=${true} after=${changed} perform=${() => call("DELETE", `${path}/${row.id}`)}><p>No call is admitted with it from then on; a call under way may end.</p><//>` },
  ];
}

function Tokens({ agent, active }) {
  const me = useMe();
  const path = `/api/mcp/agents/${agent}/tokens`;
  const read = useRead(path);
  const [mine, setMine] = useState(false);
  const [fresh, setFresh] = useState(null);
  const issued = (answer) => {
    setFresh(answer.data.token);
    read.refresh();
  };
  return html`<p>With a token, the agent calls its tools at <code>${location.origin}/mcp/agents/${agent}</code>, by any MCP client.</p>
    ${active && html`<p class="buttons"><${IssueToken} path=${path} extra=${mine ? { user_id: me.id } : {}} issued=${issued}>
      <label><input type="checkbox" checked=${mine} onChange=${(event) => setMine(event.target.checked)} /> The agent calls for me: it uses my secrets where a connector asks for the caller's</label><//></p>`}
    ${fresh && html`<${FreshToken} token=${fresh} kept=${() => setFresh(null)} />`}
    <${Reading} read=${read} what="Reading tokens">${() => html`<${Table} caption="Tokens of the agent, latest first" hideCaption=${true} columns=${columnsOf(path, read.refresh)} rows=${read.data.tokens} empty="No tokens: the agent can't call tools through the gateway." />`}<//>`;
}

export const AgentTokens = ({ agent, may, active }) => html`<h2>Tokens</h2>
  ${may ? html`<${Tokens} agent=${agent} active=${active} />` : html`<${NotOffered} what="Tokens of this agent" reason="for its managers and superusers" />`}`;
