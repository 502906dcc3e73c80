// What the gateway needs of a connector: how it names tools, records calls, and signs in.
import { Confirmed, FormDialog } from "./actions.js";
import { call } from "./api.js";
import { useMe } from "./me.js";
import { Failure, Field } from "./parts.js";
import { useRead } from "./reads.js";
import { html, useState } from "./ui.js";

const RECORD_MODES = [
  { value: "strict", label: "strict: each call before it is forwarded" },
  { value: "batched", label: "batched: ten times a second" },
];

export function Gateway({ connector, changed }) {
  const [slug, setSlug] = useState(connector.slug);
  const [mode, setMode] = useState(connector.record_mode);
  return html`<${FormDialog} label="Gateway settings" submit="Save" after=${changed}
    perform=${() => call("PUT", `/api/mcp/connectors/${connector.id}/gateway`, { body: { slug: slug.trim(), record_mode: mode }, ifMatch: connector.version })}>
    <${Field} label="Tool name prefix (slug)" name="slug" value=${slug} onValue=${setSlug} required=${true} maxlength="24" help="Agents see the tools under other names once it changes; rules stay as they are." />
    <${Field} label="Record mode" name="record_mode" value=${mode} onValue=${setMode} choices=${RECORD_MODES} any=${null} help="Batched, for high rates: a right just revoked may be used for a second, and a crash may lose the record of 100 ms. Calls that send a credential are recorded strictly all the same." />
  <//>`;
}

const sent = ({ header, scheme }) => `${header}: ${scheme ? `${scheme} ` : ""}…`;

export function credentialOf({ id, credential }) {
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

export function Credential({ connector, changed }) {
  const owns = useMe().id === connector.owner_id;
  return html`${owns && html`<${Attach} connector=${connector} changed=${changed} />`}
    ${connector.credential && html`<${Confirmed} label="Detach the credential" title="Send no credential any more?" confirm="Detach it" danger=${true} after=${changed}
      perform=${() => call("DELETE", `/api/mcp/connectors/${connector.id}/credential`, { ifMatch: connector.version })}>
      <p>The secret itself remains.</p><//>`}`;
}
