// One connector: who owns it, who may use it, and who could at any time.
import { Confirmed, FormDialog } from "../app/actions.js";
import { call } from "../app/api.js";
import { Exposure } from "../app/exposure.js";
import { Health } from "../app/health.js";
import { has, isSuperuser, seesEverything, useMe } from "../app/me.js";
import { Named, OF_AGENT, forgetNames, options, useList } from "../app/names.js";
import { Badge, Facts, Failure, Field, NotOffered, Page, Paging, RULE, Reading, Table } from "../app/parts.js";
import { LISTED_MAX, useRead } from "../app/reads.js";
import { go, link } from "../app/route.js";
import { RuleWarnings } from "../app/rule_warnings.js";
import { Time } from "../app/time.js";
import { html, useState } from "../app/ui.js";
import { Visibility } from "./connectors.js";

// What the gateway needs of a connector: how it names tools, records calls, and signs in.

const RECORD_MODES = [
  { value: "strict", label: "strict: each call before it is forwarded" },
  { value: "batched", label: "batched: ten times a second" },
];

const REVISIONS = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

function Gateway({ connector, changed }) {
  const [slug, setSlug] = useState(connector.slug);
  const [mode, setMode] = useState(connector.record_mode);
  const [revision, setRevision] = useState(connector.protocol_revision ?? "");
  return html`<${FormDialog} label="Gateway settings" submit="Save" after=${changed}
    perform=${() => call("PUT", `/api/mcp/connectors/${connector.id}/gateway`, { body: { slug: slug.trim(), record_mode: mode, protocol_revision: revision || null }, ifMatch: connector.version })}>
    <${Field} label="Tool name prefix (slug)" name="slug" value=${slug} onValue=${setSlug} required=${true} maxlength="24" help="Agents see the tools under other names once it changes; rules stay as they are." />
    <${Field} label="Record mode" name="record_mode" value=${mode} onValue=${setMode} choices=${RECORD_MODES} any=${null} help="Batched, for high rates: a right just revoked may be used for a second, and a crash may lose the record of 100 ms. Calls that send a credential are recorded strictly all the same." />
    <${Field} label="Protocol revision" name="protocol_revision" value=${revision} onValue=${setRevision} choices=${REVISIONS} any="find out" help="Only for a server that answers wrongly when it is asked which one it speaks." />
  <//>`;
}

const sent = ({ header, scheme }) => `${header}: ${scheme ? `${scheme} ` : ""}…`;

function credentialOf({ id, credential }) {
  if (!credential) return "none is sent";
  const whose = credential.whose === "owner" ? "a secret of its owner" : html`the secret <code>mcp.${id}</code> of the calling user`;
  return html`${whose}, as <code>${sent(credential)}</code>`;
}

// The names of the caller's own secrets.
function SecretChoice({ value, onValue }) {
  const read = useRead("/api/secrets", { limit: 100 }, { minor: true });
  if (read.error) return html`<${Failure} error=${read.error} retry=${read.refresh} />`;
  const names = read.data?.secrets.map((each) => each.name) ?? [];
  const help = read.data && names.length === 0 ? "You have no secrets yet." : undefined;
  return html`<${Field} label="Secret" name="secret_name" value=${value} onValue=${onValue} choices=${names} any=${read.data ? "choose" : "reading …"} required=${true} help=${help} />`;
}

function Attach({ connector, changed }) {
  const now = connector.credential;
  const isPublic = connector.visibility === "public";
  const [values, setValues] = useState({ whose: isPublic ? "caller" : now?.whose ?? "owner", secret_name: "", header: now?.header ?? "Authorization", scheme: now ? now.scheme ?? "" : "Bearer" });
  const set = (name) => (value) => setValues({ ...values, [name]: value });
  const ofOwner = values.whose === "owner";
  const whose = [!isPublic && { value: "owner", label: "one of my secrets, for all calls" }, { value: "caller", label: "the calling user's own" }].filter(Boolean);
  const body = { whose: values.whose, secret_name: ofOwner ? values.secret_name : null, header: values.header.trim(), scheme: values.scheme.trim() || null };
  return html`<${FormDialog} label="Credential" title=${now ? "Change the credential" : "Attach a credential"} submit="Save" after=${changed}
    perform=${() => call("PUT", `/api/mcp/connectors/${connector.id}/credential`, { body, ifMatch: connector.version })}>
    <p>The gateway sends it to <code>${connector.url}</code>; agents never see it.</p>
    <${Field} label="Whose secret" name="whose" value=${values.whose} onValue=${set("whose")} choices=${whose} any=${null} help=${isPublic ? "The connector is public: yours is never lent through it." : undefined} />
    ${ofOwner ? html`<${SecretChoice} value=${values.secret_name} onValue=${set("secret_name")} />` : html`<p>Each user creates a secret named <code>mcp.${connector.id}</code>; a call for a user without one is refused.</p>`}
    <${Field} label="Header" name="header" value=${values.header} onValue=${set("header")} required=${true} help="Authorization, X-…, …Key or …Token" />
    <${Field} label="Scheme" name="scheme" value=${values.scheme} onValue=${set("scheme")} help="Before the value, or empty." />
  <//>`;
}

function Credential({ connector, changed }) {
  const owns = useMe().id === connector.owner_id;
  return html`${owns && html`<${Attach} connector=${connector} changed=${changed} />`}
    ${connector.credential && html`<${Confirmed} label="Detach the credential" title="Send no credential any more?" confirm="Detach it" danger=${true} after=${changed}
      perform=${() => call("DELETE", `/api/mcp/connectors/${connector.id}/credential`, { ifMatch: connector.version })}>
      <p>The secret itself remains.</p><//>`}`;
}

function Edit({ connector, changed }) {
  const hasGateway = has(useMe(), "gateway");
  const [values, setValues] = useState({ name: connector.name, url: connector.url, description: connector.description });
  const set = (name) => (value) => setValues({ ...values, [name]: value });
  return html`<${FormDialog} label="Edit" title="Edit the connector" submit="Save" after=${changed}
    perform=${() => call("PUT", `/api/mcp/connectors/${connector.id}`, { body: values, ifMatch: connector.version })}>
    <${Field} label="Name" name="name" value=${values.name} onValue=${set("name")} required=${true} maxlength="128" help=${hasGateway ? "Agents see its tools under other names once it changes, unless a prefix was set in the gateway settings." : undefined} />
    <${Field} label="URL" name="url" value=${values.url} onValue=${set("url")} required=${true} />
    <${Field} label="Description" name="description" value=${values.description} onValue=${set("description")} lines=${2} />
  <//>`;
}

function Share({ connector, changed }) {
  const path = `/api/mcp/connectors/${connector.id}/grants/public`;
  if (connector.visibility === "public") {
    return html`<${Confirmed} label="Make private" title="Make this connector private?" after=${changed} perform=${() => call("DELETE", path, { ifMatch: connector.version })}>
      <p>People who have no grant no longer see it. Agents that hold it keep it until their grants are revoked.</p><//>`;
  }
  return html`<${Confirmed} label="Make public" title="Make this connector public?" danger=${true} after=${changed} perform=${() => call("POST", path, { ifMatch: connector.version })}>
    <p><strong>Everybody who can sign in</strong> will see its name, its description and its URL, <code>${connector.url}</code>, and every manager may let their agents use it without asking you.</p>
    <p>Credentials are never shared. Making it private again leaves the grants that were made meanwhile.</p><//>`;
}

function Grant({ connector, owns, changed }) {
  const me = useMe();
  const all = useList("agents");
  const [agent, setAgent] = useState("");
  // An agent of theirs may be behind the end of the list.
  const agents = owns || all.length >= LISTED_MAX ? all : all.filter((each) => each.manager_ids.includes(me.id));
  if (!owns && agents.length === 0) return html`<${NotOffered} what="Granting it" reason="for its owner, superusers and managers of agents" />`;
  return html`<${FormDialog} label="Grant to an agent" submit="Consent" after=${changed}
    perform=${() => call("PUT", `/api/mcp/connectors/${connector.id}/grants/agents/${agent.trim()}`, { ifMatch: connector.version })}>
    <p>A grant needs two consents, the connector's and the agent's. You give those that you can; the other side is asked for the rest.</p>
    ${agents.length ? html`<${Field} label="Agent" name="agent_id" value=${agent} onValue=${setAgent} choices=${options(agents)} any="choose" required=${true} />` : html`<${Field} label="Id of the agent" name="agent_id" value=${agent} onValue=${setAgent} required=${true} />`}
  <//>`;
}

function Grants({ connector, may, changed }) {
  const columns = [
    OF_AGENT,
    { label: "State", cell: (row) => html`<${Badge} kind=${row.state === "granted" ? "allow" : "ask"}>${row.state === "granted" ? "✓ granted" : `? waits for the ${row.awaiting}`}<//>` },
    may && { label: "Change", cell: (row) => html`<${Confirmed} label="Revoke" title="Revoke this grant?" danger=${true} after=${changed}
      perform=${() => call("DELETE", `/api/mcp/connectors/${connector.id}/grants/agents/${row.agent_id}`, { ifMatch: connector.version })}>
      <p>Every tool of this connector is denied to <${Named} kind="agents" id=${row.agent_id} plain=${true} /> from then on.</p><//>` },
  ].filter(Boolean);
  return html`<${Table} caption="Agents with a grant or an offer" columns=${columns} rows=${connector.grants} rowKey=${(row) => row.agent_id} empty="No agent that you may see holds it." />`;
}

function Rules({ id, after }) {
  const read = useRead(`/api/mcp/connectors/${id}/tools`, { limit: 100, after });
  return html`<h2>Rules of all agents</h2><${Reading} read=${read}>${() => html`
    <${Table} caption="Rules for this connector" hideCaption=${true} columns=${[OF_AGENT, ...RULE]} rows=${read.data.rules} rowKey=${(row) => `${row.agent_id} ${row.tool_pattern}`} empty="No agent has rules for it." />
    <${Paging} path=${["connectors", id]} shown=${read.data.rules.length} next=${read.data.end_cursor} />`}<//>`;
}

export default function Connector({ id, query }) {
  const me = useMe();
  const hasGateway = has(me, "gateway");
  const read = useRead(`/api/mcp/connectors/${id}`);
  const connector = read.data;
  const owns = connector && (isSuperuser(me) || connector.owner_id === me.id);
  const [warnings, setWarnings] = useState([]);
  const changed = (answer) => {
    setWarnings(answer?.data?.warnings ?? []);
    forgetNames();
    read.refresh();
  };
  // Nobody finds it any more, here neither.
  const retired = () => {
    forgetNames();
    go("connectors");
  };
  return html`<${Page} title=${connector ? `Connector ${connector.name}` : "Connector"} lead=${html`<code>${id}</code>`}>
    <${Reading} read=${read} what="Reading the connector">${() => html`
      <${Facts} facts=${[
        ["Visibility", html`<${Visibility} connector=${connector} />`],
        ["Public since", connector.public_since ? html`<${Time} at=${connector.public_since} />, by <${Named} kind="users" id=${connector.made_public_by} plain=${true} />` : undefined],
        ["Owner", html`<${Named} kind="users" id=${connector.owner_id} />`],
        ["Offered to", connector.offered_owner_id ? html`<${Named} kind="users" id=${connector.offered_owner_id} />` : undefined],
        ["Calls", hasGateway ? html`<a href=${link("calls", { connector_id: id })}>of its tools</a>` : undefined],
        ["Gateway", hasGateway ? html`tools begin with <code>${connector.slug}</code>; calls are recorded ${connector.record_mode === "strict" ? "one by one (strict)" : "in batches (batched)"}${connector.protocol_revision ? `; its server is spoken to in MCP ${connector.protocol_revision}` : ""}` : undefined],
        ["Credential", hasGateway ? credentialOf(connector) : undefined],
        ["URL", html`<code>${connector.url}</code>`],
        ["Description", connector.description || undefined],
        ["Last change", html`<${Time} at=${connector.updated_at} />`],
        ["History", seesEverything(me) ? html`<a href=${link("audit", { resource: id })}>in the audit trail</a>` : undefined],
      ]} />
      <${RuleWarnings} warnings=${warnings} />
      ${owns ? html`<p class="buttons"><${Edit} key=${connector.version} connector=${connector} changed=${changed} />
        ${hasGateway && html`<${Gateway} key="gateway-${connector.version}" connector=${connector} changed=${changed} /><${Credential} key="credential-${connector.version}" connector=${connector} changed=${changed} />`}<${Share} connector=${connector} changed=${changed} />
        <${Grant} key="grant-${connector.version}" owns=${true} connector=${connector} changed=${changed} />
        <${Confirmed} label="Retire" title="Retire this connector for good?" confirm="Retire it for good" danger=${true} after=${retired} perform=${() => call("DELETE", `/api/mcp/connectors/${id}`, { ifMatch: connector.version })}>
          <p>No agent has it any more and nobody finds it. This can't be undone; its history stays.</p><//></p>
        ${hasGateway && connector.owner_id !== me.id && html`<${NotOffered} what="Attaching a credential" reason="for its owner" />`}`
        : html`<${NotOffered} what="Editing, sharing and retiring it" reason="for its owner and superusers" /><${Grant} key=${connector.version} owns=${false} connector=${connector} changed=${changed} />`}
      ${hasGateway && html`<${Health} key="health-${connector.url}" connector=${connector} may=${owns} />`}
      <h2>Grants</h2>
      <${Grants} connector=${connector} may=${owns} changed=${changed} />
      ${owns || seesEverything(me) ? html`<${Rules} id=${id} after=${query.after} />` : null}
      ${has(me, "proofs") && html`<h2>Exposure over time</h2>
      ${seesEverything(me) ? html`<${Exposure} connector=${connector} query=${query} />` : html`<${NotOffered} what="Who could use it over time" reason="for superusers and auditors" />`}`}`}<//>
  <//>`;
}
