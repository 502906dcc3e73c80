// Who could call a tool, when, and who allowed it: one agent or all, one moment or two.
// Shows: which agents could call a tool at any time; who set the rule, who gave the
// grant
// Does: leads to the proof of each entry
import { Behind, Cause, Decision, reasonOf, useExplanations } from "../app/explaining.js";
import { has, useMe } from "../app/me.js";
import { Named, options, useList } from "../app/names.js";
import { Badge, Filters, Page, Reading, Stance, Table } from "../app/parts.js";
import { useRead } from "../app/reads.js";
import { link } from "../app/route.js";
import { WrongTimes, isPosition, momentsOf, shown } from "../app/time.js";
import { html } from "../app/ui.js";

const AGENTS_MAX = 100;
const UNSEEN = [403, 404];

const named = (at) => (at === undefined ? "Now" : isPosition(at) ? `At position ${at}` : `At ${shown(at)}`);

function OneAgent({ agent, connector, tool, at, other, both }) {
  const path = `/api/mcp/agents/${agent}/tools/explain`;
  const first = useRead(path, { connector_id: connector, tool, at });
  const second = useRead(both ? path : null, { connector_id: connector, tool, at: other });
  const changed = both && first.data && second.data && first.data.stance !== second.data.stance;
  return html`
    ${both && first.data && second.data && html`<p class=${changed ? "warning" : "done"}>${changed ? "The decision differs between the two times." : "The decision is the same at both times."}</p>`}
    <div class="columns"><${Decision} title=${named(at)} read=${first} />${both && html`<${Decision} title=${named(other)} read=${second} />`}</div>`;
}

function AllAgents({ connector, tool, at, query }) {
  const read = useRead(`/api/mcp/connectors/${connector}`, { at });
  const grants = (read.data?.grants ?? []).filter((grant) => grant.state === "granted").slice(0, AGENTS_MAX);
  const found = useExplanations(grants.map((grant) => ({ agent: grant.agent_id, connector, tool, at })));
  const rows = grants.map((grant, index) => ({ id: grant.agent_id, ...(found[index] ?? { pending: true }) }));
  const asking = rows.filter((row) => row.stance === "ask").length;
  const able = rows.filter((row) => row.stance === "allow").length + asking;
  const waiting = rows.some((row) => row.pending);
  const columns = [
    { label: "Agent", cell: (row) => html`<${Named} kind="agents" id=${row.id} />` },
    { label: "Could call it", cell: (row) => (row.pending ? "…" : row.error ? html`<${Badge} kind="plain">${UNSEEN.includes(row.error.status) ? "not for you to see" : row.error.message}<//>` : html`<${Stance} stance=${row.stance} />`) },
    { label: "Allowed or refused by", wide: true, cell: (row) => (row.stance_since ? html`<${Cause} event=${row.stance_since} />` : row.reason ? reasonOf(row) : "–") },
    { label: "Connector granted by", wide: true, cell: (row) => (row.granted_since ? html`<${Cause} event=${row.granted_since} />` : "–") },
    { label: "Details", cell: (row) => html`<a href=${link("explain", { ...query, agent: row.id })}>Explain<span class="hidden"> this decision</span></a>` },
  ];
  return html`<${Reading} read=${read} what="Reading grants">${() => html`
    <p class="figure" role="status">${waiting ? "Asking for each agent …" : `${able} of ${rows.length} agents that held the connector could call it`}</p>
    ${rows.some((row) => row.explained_tool) && html`<${Behind} data=${rows.find((row) => row.explained_tool)} />`}
    ${!waiting && asking > 0 && html`<p>${asking} of them only with a person's approval of each call.</p>`}
    <${Table} caption="${named(at)}: agents that held the connector" columns=${columns} rows=${rows} empty="No agent held this connector then, so none could call any of its tools." />
    ${read.data.grants.length > AGENTS_MAX && html`<p class="warning">Only the first ${AGENTS_MAX} agents are shown.</p>`}`}<//>`;
}

const LEAD = "Who could call a tool of a connector, at any time, and who allowed it. A time is written as 2026-05-31 14:00, or as a position of the log.";
const PROVED = " Each answer leads to its entry in the log, which you can verify.";

export default function Explain({ query }) {
  const hasProofs = has(useMe(), "proofs");
  const agents = useList("agents");
  const connectors = useList("connectors");
  const { sent: { at, other }, wrong } = momentsOf(query, ["at", "other"]);
  const fields = [
    { name: "connector", label: "Connector", choices: options(connectors), any: "choose" },
    { name: "tool", label: "Tool", placeholder: "issues.create" },
    { name: "at", label: "When", placeholder: "now" },
    { name: "agent", label: "Agent", choices: options(agents), any: "all that hold it" },
    query.agent && { name: "other", label: "Compare with", placeholder: "another time" },
  ].filter(Boolean);
  const ready = query.connector && query.tool && wrong.length === 0;
  return html`<${Page} title="Explain" lead=${hasProofs ? LEAD + PROVED : LEAD}>
    <${Filters} fields=${fields} />
    <${WrongTimes} wrong=${wrong} />
    ${!query.connector || !query.tool ? html`<p class="empty">Choose a connector and type the name of a tool, such as issues.create.</p>` : null}
    ${ready && (query.agent
      ? html`<${OneAgent} agent=${query.agent} connector=${query.connector} tool=${query.tool} at=${at} other=${other} both=${Boolean(query.other)} />`
      : html`<${AllAgents} connector=${query.connector} tool=${query.tool} at=${at} query=${query} />`)}
  <//>`;
}
