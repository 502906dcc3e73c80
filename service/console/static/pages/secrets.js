// The caller's own secrets: names, versions and fingerprints, never a value.
// Shows: names, versions, fingerprints, never a value
// Does: creates, overwrites, restores, deletes
import { FormDialog } from "../app/actions.js";
import { call } from "../app/api.js";
import { Cut, Field, Page, Paging, Reading, Table } from "../app/parts.js";
import { useRead } from "../app/reads.js";
import { link } from "../app/route.js";
import { SecretValue } from "../app/secret_value.js";
import { Time } from "../app/time.js";
import { html, useState } from "../app/ui.js";

const COLUMNS = [
  { label: "Name", sort: (row) => row.name, cell: (row) => html`<a href=${link(["secrets", row.name])}><${Cut} text=${row.name} /></a>` },
  { label: "Version", number: true, sort: (row) => row.version, cell: (row) => row.version },
  { label: "Fingerprint", cell: (row) => html`<code>${row.fingerprint}</code>` },
  { label: "Last change", sort: (row) => row.updated_at, cell: (row) => html`<${Time} at=${row.updated_at} />` },
];

function Create({ created }) {
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const perform = () => call("POST", "/api/secrets", { body: { name: name.trim(), value } });
  const after = () => {
    setValue("");
    setName("");
    created();
  };
  return html`<${FormDialog} label="Create a secret" submit="Create" perform=${perform} after=${after}>
    <${Field} label="Name" name="name" value=${name} onValue=${setName} required=${true} maxlength="128" pattern="[A-Za-z0-9_.\\-]+" help="Of A-Z a-z 0-9 _ . -" />
    <${SecretValue} label="Value" value=${value} onValue=${setValue} />
  <//>`;
}

export default function Secrets({ query }) {
  const read = useRead("/api/secrets", { limit: 50, after: query.after });
  return html`<${Page} title="Secrets" lead="Your own secrets; nobody else's can be seen by anybody, whatever their roles. Equal values of yours have equal fingerprints."
    actions=${html`<p class="buttons"><${Create} created=${() => read.refresh()} /></p>`}>
    <${Reading} read=${read} what="Reading secrets">${() => html`
      <${Table} caption="Secrets" hideCaption=${true} columns=${COLUMNS} rows=${read.data.secrets} rowKey=${(row) => row.name} empty="You have no secrets. Create one here, or with curl." />
      <${Paging} path="secrets" shown=${read.data.secrets.length} next=${read.data.end_cursor} />`}<//>
    <p class="not-offered">Showing a value: values are revealed through the API only, where each reveal is recorded.</p>
  <//>`;
}
