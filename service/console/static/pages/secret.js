// One secret with its versions.
import { Confirmed, FormDialog } from "../app/actions.js";
import { call } from "../app/api.js";
import { Named } from "../app/names.js";
import { Badge, Facts, Page, Reading, Table } from "../app/parts.js";
import { useRead } from "../app/reads.js";
import { go, setQuery } from "../app/route.js";
import { SecretValue } from "../app/secret_value.js";
import { Time } from "../app/time.js";
import { html, useState } from "../app/ui.js";

function Overwrite({ path, version, done }) {
  const [value, setValue] = useState("");
  const after = () => {
    setValue("");
    done();
  };
  return html`<${FormDialog} label="Overwrite" title="Overwrite the value" perform=${() => call("PUT", path, { body: { value }, ifMatch: version })} after=${after}>
    <p>Every user of this secret gets the new value from their next request on. The last ten versions are kept.</p>
    <${SecretValue} label="New value" value=${value} onValue=${setValue} />
  <//>`;
}

export default function Secret({ id, query }) {
  const path = `/api/secrets/${encodeURIComponent(id)}`;
  const read = useRead(path, { limit: 50, before: query.before });
  const secret = read.data;
  const columns = [
    { label: "Version", number: true, cell: (row) => row.version },
    { label: "Fingerprint", cell: (row) => html`<code>${row.fingerprint}</code>` },
    { label: "Created", cell: (row) => html`<${Time} at=${row.created_at} />` },
    { label: "By", cell: (row) => html`<${Named} kind="users" id=${row.created_by} plain=${true} />` },
    { label: "Value", cell: (row) => (row.destroyed_at ? html`<${Badge} kind="plain">destroyed<//> <${Time} at=${row.destroyed_at} />` : html`<${Badge} kind="allow">kept<//>`) },
    { label: "Restored from", cell: (row) => row.restored_version ?? "–" },
    { label: "Change", cell: (row) => (row.destroyed_at || row.version === secret.version ? "–" : html`<${Confirmed} label="Restore" title="Restore version ${row.version}?" after=${() => read.refresh()}
      perform=${() => call("POST", `${path}/versions/${row.version}/restore`, { ifMatch: secret.version })}><p>Its value becomes the current one, as a new version.</p><//>`) },
  ];
  return html`<${Page} title="Secret ${id}">
    <${Reading} read=${read} what="Reading the secret">${() => html`
      <${Facts} facts=${[["Current version", secret.version], ["Fingerprint", html`<code>${secret.fingerprint}</code>`], ["Last change", html`<${Time} at=${secret.updated_at} />`]]} />
      <p class="buttons"><${Overwrite} path=${path} version=${secret.version} done=${() => read.refresh()} />
        <${Confirmed} label="Delete" title="Delete this secret?" confirm="Destroy all of its values" danger=${true} after=${() => go("secrets")} perform=${() => call("DELETE", path, { ifMatch: secret.version })}>
          <p>All of its values are destroyed for good. Its name and history stay.</p><//></p>
      <${Table} caption="Versions" columns=${columns} rows=${secret.versions} rowKey=${(row) => row.version} empty="No versions." />
      <p class="buttons">${query.before && html`<button type="button" class="quiet" onClick=${() => setQuery({ before: "" })}>Latest versions</button>`}
        ${secret.end_cursor && html`<button type="button" class="quiet" onClick=${() => setQuery({ before: secret.end_cursor })}>Earlier versions</button>`}</p>`}<//>
    <p class="not-offered">Showing the value: through the API only, where each reveal is recorded.</p>
  <//>`;
}
