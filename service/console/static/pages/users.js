// Users with their roles.
// Shows: roles, state, tokens
// Does: creates, renames, disables, erases, grants roles, destroys keys
import { FormDialog } from "../app/actions.js";
import { call } from "../app/api.js";
import { Badge, Cut, Field, NotOffered, Page, Paging, Reading, Table } from "../app/parts.js";
import { useRead } from "../app/reads.js";
import { go, link } from "../app/route.js";
import { isSuperuser, useMe } from "../app/me.js";
import { Time } from "../app/time.js";
import { html, useState } from "../app/ui.js";

export const ROLES = [
  { value: "superuser", label: "superuser: everything but others' secret values" },
  { value: "auditor", label: "auditor: reads all history, changes nothing" },
  { value: "runtime", label: "runtime: records sessions of any agent" },
];
export const stateOf = (user) => (user.is_erased ? "erased" : user.is_disabled ? "disabled" : "active");

const COLUMNS = [
  { label: "Name", sort: (row) => row.name, cell: (row) => html`<a href=${link(["users", row.id])}><${Cut} text=${row.name ?? row.id} /></a>` },
  { label: "State", sort: stateOf, cell: (row) => html`<${Badge} kind=${stateOf(row) === "active" ? "allow" : "plain"}>${stateOf(row)}<//>` },
  { label: "Roles", cell: (row) => row.roles.join(", ") || "–" },
  { label: "Created", sort: (row) => row.created_at, cell: (row) => html`<${Time} at=${row.created_at} />` },
  { label: "Last change", sort: (row) => row.updated_at, cell: (row) => html`<${Time} at=${row.updated_at} />` },
];

function Create() {
  const [name, setName] = useState("");
  const [role, setRole] = useState("");
  return html`<${FormDialog} label="Create a user" submit="Create" perform=${() => call("POST", "/api/users", { body: { name: name.trim(), roles: role ? [role] : [] } })} after=${(answer) => go(["users", answer.data.id])}>
    <${Field} label="Name" name="name" value=${name} onValue=${setName} required=${true} pattern="[a-z0-9._\\-]{1,64}" help="1 to 64 of a-z 0-9 . _ -" />
    <${Field} label="Role" name="roles" value=${role} onValue=${setRole} choices=${ROLES} any="none" />
    <p class="meta">Give them a token on the next page.</p>
  <//>`;
}

export default function Users({ query }) {
  const me = useMe();
  const read = useRead("/api/users", { limit: 100, after: query.after });
  return html`<${Page} title="Users" lead="Everybody, and every program, that signs in, in the order in which they were created."
    actions=${isSuperuser(me) ? html`<p class="buttons"><${Create} /></p>` : html`<${NotOffered} what="Creating users" reason="for superusers" />`}>
    <${Reading} read=${read} what="Reading users">${() => html`
      <${Table} caption="Users" hideCaption=${true} columns=${COLUMNS} rows=${read.data.users} empty="No users." />
      <${Paging} path="users" shown=${read.data.users.length} next=${read.data.end_cursor} />`}<//>
  <//>`;
}
