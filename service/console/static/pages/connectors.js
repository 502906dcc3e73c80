// The connectors that the caller can see.
// Shows: owner, whether its tools can be listed, why not, when that was tried last and
// is next, tools that are left out or unacceptable and why, grants, rules of all
// agents, a credential that its server sends back, exposure over time
// Does: observes now, makes public with a warning that says who will see it, grants,
// edits, retires; sets slug, record mode and credential
import { FormDialog } from "../app/actions.js";
import { call } from "../app/api.js";
import { HEALTH_CHOICES, HealthBadge } from "../app/health.js";
import { has, useMe } from "../app/me.js";
import { Named, forgetNames, options, useList } from "../app/names.js";
import { Badge, Cut, Field, Filters, Page, Paging, Reading, Table } from "../app/parts.js";
import { useRead } from "../app/reads.js";
import { go, link } from "../app/route.js";
import { Time } from "../app/time.js";
import { html, useState } from "../app/ui.js";

const SCOPES = [
  { value: "owned", label: "owned by me" },
  { value: "granted", label: "granted to my agents" },
  { value: "offered", label: "offered" },
  { value: "public", label: "public" },
];

export const Visibility = ({ connector }) =>
  html`<${Badge} kind=${connector.visibility === "public" ? "ask" : "plain"}>${connector.visibility === "public" ? "◯ public" : "● private"}<//>`;

const TOOLS = { label: "Tools", sort: (row) => row.health, cell: (row) => html`<${HealthBadge} state=${row.health} />` };
// Why its tools can't be listed, and when that was tried last.
const WHY_NOT = { label: "Why not", wide: true, cell: (row) => (row.health_message ? html`<div class="why"><bdi>${row.health_message}</bdi> (<${Time} at=${row.health_at} />)</div>` : html`<span class="none">–</span>`) };

const COLUMNS = [
  { label: "Name", sort: (row) => row.name, cell: (row) => html`<a href=${link(["connectors", row.id])}><${Cut} text=${row.name} /></a>` },
  { label: "Visibility", sort: (row) => row.visibility, cell: (row) => html`<${Visibility} connector=${row} />` },
  { label: "Owner", cell: (row) => html`<${Named} kind="users" id=${row.owner_id} plain=${true} />` },
  { label: "Last change", sort: (row) => row.updated_at, cell: (row) => html`<${Time} at=${row.updated_at} />` },
  { label: "URL", cell: (row) => html`<code>${row.url}</code>` },
  { label: "Description", wide: true, cell: (row) => html`<${Cut} text=${row.description} length=${100} />` },
];

// The gateway is what lists their tools.
function columnsOf(rows, hasGateway) {
  if (!hasGateway) return COLUMNS;
  return COLUMNS.toSpliced(2, 0, ...(rows.some((row) => row.health_message) ? [TOOLS, WHY_NOT] : [TOOLS]));
}

function Register({ hasGateway }) {
  const [name, setName] = useState("");
  const [url, setUrl] = useState("");
  const [description, setDescription] = useState("");
  const perform = () => call("POST", "/api/mcp/connectors", { body: { name: name.trim(), url: url.trim(), description } });
  const after = (answer) => {
    forgetNames();
    go(["connectors", answer.data.id]);
  };
  return html`<${FormDialog} label="Register a connector" submit="Register" perform=${perform} after=${after}>
    <p>It is private, and yours, until you share it.${hasGateway && " The service asks the URL for its tools within seconds."}</p>
    <${Field} label="Name" name="name" value=${name} onValue=${setName} required=${true} maxlength="128" />
    <${Field} label="URL" name="url" value=${url} onValue=${setUrl} required=${true} help="Without credentials: everybody who sees the connector sees it." />
    <${Field} label="Description" name="description" value=${description} onValue=${setDescription} lines=${2} />
  <//>`;
}

export default function Connectors({ query }) {
  const hasGateway = has(useMe(), "gateway");
  const agents = useList("agents");
  const read = useRead("/api/mcp/connectors", { scope: query.scope, health: query.health, agent_id: query.agent_id, limit: 50, after: query.after });
  const fields = [
    { name: "scope", label: "Which", choices: SCOPES, any: "all that I can see" },
    hasGateway && { name: "health", label: "Tools", choices: HEALTH_CHOICES },
    { name: "agent_id", label: "Agent", choices: options(agents) },
  ].filter(Boolean);
  return html`<${Page} title="Connectors" lead="Servers whose tools agents may be granted: your own, public ones, and those offered or granted to agents that you manage."
    actions=${html`<p class="buttons"><${Register} hasGateway=${hasGateway} /></p>`}>
    <${Filters} fields=${fields} />
    <${Reading} read=${read} what="Reading connectors">${() => html`
      <${Table} caption="Connectors" hideCaption=${true} columns=${columnsOf(read.data.connectors, hasGateway)} rows=${read.data.connectors}
        empty=${query.health ? "No connector that you can see matches these filters." : "No connectors that you can see. Register one, or ask an owner to offer one to your agent."} />
      <${Paging} path="connectors" shown=${read.data.connectors.length} next=${read.data.end_cursor} />`}<//>
  <//>`;
}
