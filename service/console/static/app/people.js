// The managers or readers of an agent, and appointing and dismissing them.
import { Confirmed, FormDialog } from "./actions.js";
import { call, get } from "./api.js";
import { Named, options, useList } from "./names.js";
import { Field } from "./parts.js";
import { html, useState } from "./ui.js";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

// Find a user by what a manager can type: a name or an id.
async function userNamed(text) {
  const given = text.trim();
  if (UUID.test(given)) return given;
  return (await get(`/api/users/by-name/${encodeURIComponent(given)}`)).data.id;
}

function Appoint({ agent, kind, changed }) {
  const users = useList("users");
  const [user, setUser] = useState("");
  const one = kind.slice(0, -1);
  const perform = async () => call("PUT", `/api/catalog/agents/${agent.id}/${kind}/${await userNamed(user)}`, { ifMatch: agent.version });
  return html`<${FormDialog} label="Appoint a ${one}" submit="Appoint" perform=${perform} after=${changed}>
    <p>${kind === "managers" ? "A manager may change the agent, its rules and its grants." : "A reader sees the agent, its rules and its decisions."}</p>
    ${users.length ? html`<${Field} label="User" name="user_id" value=${user} onValue=${setUser} choices=${options(users)} any="choose" required=${true} />`
      : html`<${Field} label="Name or id of the user" name="user_id" value=${user} onValue=${setUser} required=${true} />`}
  <//>`;
}

export function People({ agent, kind, ids, may, changed }) {
  const one = kind.slice(0, -1);
  const title = kind[0].toUpperCase() + kind.slice(1);
  return html`<section><h2>${title}</h2>
    ${ids.length === 0 ? html`<p class="none">None.</p>` : html`<ul class="plain">${ids.map((id) => html`<li key=${id}><${Named} kind="users" id=${id} />${" "}
      ${may && html`<${Confirmed} label="Dismiss" title="Dismiss this ${one}?" danger=${true} after=${changed}
        perform=${() => call("DELETE", `/api/catalog/agents/${agent.id}/${kind}/${id}`, { ifMatch: agent.version })}>
        <p>From then on, <${Named} kind="users" id=${id} plain=${true} /> is no ${one} of this agent.</p><//>`}</li>`)}</ul>`}
    ${may && html`<p class="buttons"><${Appoint} key=${agent.version} agent=${agent} kind=${kind} changed=${changed} /></p>`}
  </section>`;
}
