// One user: roles, tokens, and what superusers may do about them.
import { Confirmed, FormDialog } from "../app/actions.js";
import { call } from "../app/api.js";
import { Badge, Facts, Field, NotOffered, Page, Paging, Reading, Table } from "../app/parts.js";
import { useRead } from "../app/reads.js";
import { link } from "../app/route.js";
import { isSuperuser, seesEverything, useMe } from "../app/me.js";
import { Time } from "../app/time.js";
import { FreshToken, IssueToken, tokenState } from "../app/tokens.js";
import { html, useState } from "../app/ui.js";
import { ROLES, stateOf } from "./users.js";

function Roles({ user, self, changed }) {
  return html`<ul class="plain">${ROLES.map(({ value, label }) => {
    const has = user.roles.includes(value);
    return html`<li key=${value}>${has ? "● " : "○ "}${label}${" "}${self && has && value === "superuser" ? html`<em>only another superuser can revoke it</em>` : html`<${Confirmed} label=${has ? `Revoke ${value}` : `Grant ${value}`} title="${has ? "Revoke" : "Grant"} the role ${value}?" danger=${has} after=${changed}
      perform=${() => call(has ? "DELETE" : "PUT", `/api/users/${user.id}/roles/${value}`, { ifMatch: user.version })}><p>It applies from their next request on.</p><//>`}</li>`;
  })}</ul>`;
}

function State({ user, self, changed }) {
  const path = `/api/users/${user.id}`;
  const [name, setName] = useState(user.name ?? "");
  return html`<p class="buttons">
    <${FormDialog} label="Rename" perform=${() => call("PUT", `${path}/name`, { body: { name: name.trim() }, ifMatch: user.version })} after=${changed}><${Field} label="New name" name="name" value=${name} onValue=${setName} required=${true} help="The earlier name stays reserved for them." /><//>
    ${self ? html`<em>Disabling and erasing is for another superuser.</em>` : user.is_disabled
      ? html`<${Confirmed} label="Enable" title="Enable this user?" after=${changed} perform=${() => call("DELETE", `${path}/disabled`, { ifMatch: user.version })}><p>Their valid tokens are accepted again.</p><//>`
      : html`<${Confirmed} label="Disable" title="Disable this user?" danger=${true} after=${changed} perform=${() => call("PUT", `${path}/disabled`, { ifMatch: user.version })}><p>None of their tokens is accepted, and their streams end.</p><//>`}
    ${!self && html`<${Confirmed} label="Erase" title="Erase this user for good?" confirm="Erase them for good" danger=${true} after=${changed} perform=${() => call("DELETE", path, { ifMatch: user.version })}>
      <p>Their key is destroyed: their name, their secret values and the texts of their sessions become unreadable for good. This can't be undone.</p><//>`}</p>`;
}

// The key of a user, which superusers and the user themself may destroy.
function Key({ user, self, changed }) {
  const whose = self ? "your" : "their";
  if (user.name === null) return html`<h2>Key</h2><p>It is destroyed.</p>`;
  return html`<h2>Key</h2>
    <p class="meta">It encrypts ${whose} name, ${whose} secret values, the texts of ${whose} sessions, and the arguments of calls that wait for an approval.</p>
    <p class="buttons"><${Confirmed} label="Destroy the key" title="Destroy ${whose} key for good?" confirm="Destroy it for good" danger=${true} after=${changed} perform=${() => call("DELETE", `/api/users/${user.id}/key`)}>
      <p>Lost for good, here and in every backup of the log:</p>
      <ul><li>${whose} name;</li><li>all values of ${whose} secrets, so that tools which need them stop working;</li><li>the texts of ${whose} sessions, in and out;</li><li>the arguments of calls that wait for an approval.</li></ul>
      <p>Kept: what was done, when and by which id, tokens and costs. Nothing can be encrypted for ${self ? "you" : "them"} again; ${whose} tokens go on working. This can't be undone.</p><//></p>`;
}

function Tokens({ user, may, query, changed }) {
  const read = useRead(`/api/users/${user.id}/tokens`, { limit: 50, after: query.after });
  const [fresh, setFresh] = useState(null);
  const now = Date.now();
  const state = (row) => tokenState(row, now);
  const columns = [
    { label: "Label", cell: (row) => html`<bdi>${row.label}</bdi>` },
    { label: "State", cell: (row) => html`<${Badge} kind=${state(row) === "valid" ? "allow" : "plain"}>${state(row)}<//>` },
    { label: "Issued", cell: (row) => html`<${Time} at=${row.created_at} />` },
    { label: "Valid until", cell: (row) => (row.expires_at ? html`<${Time} at=${row.expires_at} />` : "it is revoked") },
    { label: "Id", cell: (row) => html`<code>${row.id}</code>` },
    may && { label: "Change", cell: (row) => (state(row) !== "valid" ? "–" : html`<${Confirmed} label="Revoke" title="Revoke this token?" danger=${true} after=${() => read.refresh()} perform=${() => call("DELETE", `/api/users/${user.id}/tokens/${row.id}`)}><p>Anyone who uses it is refused from the next request on; a browser that signed in with it is signed out.</p><//>`) },
  ].filter(Boolean);
  return html`<h2>Tokens</h2>
    ${may && html`<p class="buttons"><${IssueToken} path=${`/api/users/${user.id}/tokens`} issued=${(answer) => { setFresh(answer.data.token); read.refresh(); changed(); }} /></p>`}
    ${fresh && html`<${FreshToken} token=${fresh} kept=${() => setFresh(null)} />`}
    <${Reading} read=${read} what="Reading tokens">${() => html`<${Table} caption="Tokens, latest first" hideCaption=${true} columns=${columns} rows=${read.data.tokens} empty="No tokens." />
      <${Paging} path=${["users", user.id]} shown=${read.data.tokens.length} next=${read.data.end_cursor} />`}<//>`;
}

export default function User({ id, query }) {
  const me = useMe();
  const read = useRead(`/api/users/${id}`);
  const user = read.data;
  const changed = () => read.refresh();
  return html`<${Page} title=${user ? `User ${user.name ?? id.slice(0, 8)}` : "User"} lead=${html`<code>${id}</code>`}>
    <${Reading} read=${read} what="Reading the user">${() => html`
      <${Facts} facts=${[
        ["State", html`<${Badge} kind=${stateOf(user) === "active" ? "allow" : "plain"}>${stateOf(user)}<//>`],
        ["Roles", user.roles.join(", ") || "none"],
        ["Created", html`<${Time} at=${user.created_at} />`],
        ["Last change", html`<${Time} at=${user.updated_at} />`],
        ["Sessions", html`<a href=${link("sessions", { user_id: id })}>of this user</a>`],
        ["History", seesEverything(me) ? html`<a href=${link("audit", { actor: id })}>what they did</a>` : undefined],
      ]} />
      ${isSuperuser(me) && !user.is_erased ? html`<${State} key=${user.version} user=${user} self=${me.id === id} changed=${changed} /><h2>Roles</h2><${Roles} user=${user} self=${me.id === id} changed=${changed} />` : html`<${NotOffered} what="Changing this user" reason=${user.is_erased ? "they are erased" : "for superusers"} />`}
      <${Tokens} user=${user} may=${(isSuperuser(me) || me.id === id) && !user.is_erased} query=${query} changed=${changed} />
      ${(isSuperuser(me) || me.id === id) && !user.is_erased && html`<${Key} user=${user} self=${me.id === id} changed=${changed} />`}`}<//>
  <//>`;
}
