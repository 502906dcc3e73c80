// One user: roles, tokens, and what superusers may do about them.
import { Confirmed, FormDialog } from "../app/actions.js";
import { call } from "../app/api.js";
import { Badge, Facts, Field, NotOffered, Page, Paging, Reading, Table } from "../app/parts.js";
import { useRead } from "../app/reads.js";
import { link } from "../app/route.js";
import { isSuperuser, seesEverything, useMe } from "../app/me.js";
import { Time, parseMoment } from "../app/time.js";
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
    <${FormDialog} label="Rename" perform=${() => call("PUT", `${path}/name`, { body: { name: name.trim() }, ifMatch: user.version })} after=${changed}><${Field} label="New name" value=${name} onValue=${setName} required=${true} help="The earlier name stays reserved for them." /><//>
    ${self ? html`<em>Disabling and erasing is for another superuser.</em>` : user.is_disabled
      ? html`<${Confirmed} label="Enable" title="Enable this user?" after=${changed} perform=${() => call("DELETE", `${path}/disabled`, { ifMatch: user.version })}><p>Their valid tokens are accepted again.</p><//>`
      : html`<${Confirmed} label="Disable" title="Disable this user?" danger=${true} after=${changed} perform=${() => call("PUT", `${path}/disabled`, { ifMatch: user.version })}><p>None of their tokens is accepted, and their streams end.</p><//>`}
    ${!self && html`<${Confirmed} label="Erase" title="Erase this user for good?" confirm="Erase them for good" danger=${true} after=${changed} perform=${() => call("DELETE", path, { ifMatch: user.version })}>
      <p>Their key is destroyed: their name, their secret values and the texts of their sessions become unreadable for good. This can't be undone.</p><//>`}</p>`;
}

function Issue({ user, issued }) {
  const [label, setLabel] = useState("");
  const [until, setUntil] = useState("");
  const perform = async () => {
    const expires = parseMoment(until);
    // Nobody gets a token without an end because of a slip.
    if (expires === null || /^\d+$/.test(expires ?? "")) throw new Error("The end of a token is a time, such as 2030-01-31 18:00");
    return call("POST", `/api/users/${user.id}/tokens`, { body: { label: label.trim(), ...(expires ? { expires_at: expires } : {}) } });
  };
  return html`<${FormDialog} label="Issue a token" submit="Issue" perform=${perform} after=${issued}>
    <${Field} label="Label" value=${label} onValue=${setLabel} required=${true} maxlength="128" help="What it is for" />
    <${Field} label="Valid until" value=${until} onValue=${setUntil} placeholder="until it is revoked" help="As in 2030-01-31 18:00" />
  <//>`;
}

function Tokens({ user, may, query, changed }) {
  const read = useRead(`/api/users/${user.id}/tokens`, { limit: 50, after: query.after });
  const [fresh, setFresh] = useState(null);
  const now = Date.now();
  const state = (row) => (row.revoked_at ? "revoked" : row.expires_at && Date.parse(row.expires_at) < now ? "expired" : "valid");
  const columns = [
    { label: "Label", cell: (row) => html`<bdi>${row.label}</bdi>` },
    { label: "State", cell: (row) => html`<${Badge} kind=${state(row) === "valid" ? "allow" : "plain"}>${state(row)}<//>` },
    { label: "Issued", cell: (row) => html`<${Time} at=${row.created_at} />` },
    { label: "Valid until", cell: (row) => (row.expires_at ? html`<${Time} at=${row.expires_at} />` : "it is revoked") },
    { label: "Id", cell: (row) => html`<code>${row.id}</code>` },
    may && { label: "Change", cell: (row) => (state(row) !== "valid" ? "–" : html`<${Confirmed} label="Revoke" title="Revoke this token?" danger=${true} after=${() => read.refresh()} perform=${() => call("DELETE", `/api/users/${user.id}/tokens/${row.id}`)}><p>Whoever uses it is refused from the next request on; a browser that signed in with it is signed out.</p><//>`) },
  ].filter(Boolean);
  return html`<h2>Tokens</h2>
    ${may && html`<p class="buttons"><${Issue} user=${user} issued=${(answer) => { setFresh(answer.data.token); read.refresh(); changed(); }} /></p>`}
    ${fresh && html`<div class="warning" role="status"><p>The new token, shown this once: <code>${fresh}</code></p><button type="button" class="quiet" onClick=${() => setFresh(null)}>I have kept it</button></div>`}
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
      <${Tokens} user=${user} may=${(isSuperuser(me) || me.id === id) && !user.is_erased} query=${query} changed=${changed} />`}<//>
  <//>`;
}
