// The agents that the caller manages, reads or, with a role for it, all of them.
// Shows: managers, readers, effective decisions as a matrix of the tools that each
// connector lists, rules with warnings, tool search, tokens
// Does: edits rules with a preview that has the warnings, takes their suggestions,
// restores earlier ones, appoints, sets how many tools are listed, issues and revokes
// tokens
import { FormDialog } from "../app/actions.js";
import { call } from "../app/api.js";
import { Named, forgetNames } from "../app/names.js";
import { Badge, Cut, Field, Page, Paging, Reading, Table } from "../app/parts.js";
import { useRead } from "../app/reads.js";
import { go, link } from "../app/route.js";
import { seesEverything, useMe } from "../app/me.js";
import { Time } from "../app/time.js";
import { html, useState } from "../app/ui.js";

const COLUMNS = [
  { label: "Name", sort: (row) => row.name, cell: (row) => html`<a href=${link(["agents", row.id])}><${Cut} text=${row.name} /></a>` },
  { label: "State", sort: (row) => row.state, cell: (row) => html`<${Badge} kind=${row.state === "active" ? "allow" : "plain"}>${row.state}<//>` },
  { label: "Managers", cell: (row) => html`${row.manager_ids.slice(0, 5).map((id, index) => html`${index > 0 && ", "}<${Named} kind="users" id=${id} plain=${true} />`)}${row.manager_ids.length > 5 && ` and ${row.manager_ids.length - 5} more`}` },
  { label: "Registered", sort: (row) => row.created_at, cell: (row) => html`<${Time} at=${row.created_at} />` },
  { label: "Description", wide: true, cell: (row) => html`<${Cut} text=${row.description} length=${100} />` },
];

function Register() {
  const [name, setName] = useState("");
  const perform = () => call("POST", "/api/catalog/agents", { body: { name: name.trim() } });
  const after = (answer) => {
    forgetNames();
    go(["agents", answer.data.id]);
  };
  return html`<${FormDialog} label="Register an agent" submit="Register" perform=${perform} after=${after}>
    <p>You become its first manager.</p>
    <${Field} label="Name" name="name" value=${name} onValue=${setName} required=${true} maxlength="128" />
  <//>`;
}

export default function Agents({ query }) {
  const me = useMe();
  const read = useRead("/api/catalog/agents", { limit: 50, after: query.after });
  const lead = seesEverything(me) ? "Every agent." : "The agents that you manage or read; other agents are for their managers, superusers and auditors.";
  return html`<${Page} title="Agents" lead=${lead} actions=${html`<p class="buttons"><${Register} /></p>`}>
    <${Reading} read=${read} what="Reading agents">${() => html`
      <${Table} caption="Agents" hideCaption=${true} columns=${COLUMNS} rows=${read.data.agents} empty="No agents that you may see. Register one, or ask the manager of an agent to make you a manager or reader." />
      <${Paging} path="agents" shown=${read.data.agents.length} next=${read.data.end_cursor} />`}<//>
  <//>`;
}
