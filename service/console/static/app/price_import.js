// Importing a price list: first what it would change, then the import itself.
import { Outcome, useAction } from "./actions.js";
import { call } from "./api.js";
import { Badge, Field, Table } from "./parts.js";
import { Time } from "./time.js";
import { html, useState } from "./ui.js";

const ROWS_MAX = 200;
const values = (price) => (price ? `${price.input_price_per_1m ?? "?"} / ${price.output_price_per_1m ?? "?"} ${price.currency}` : "–");

const COLUMNS = [
  { label: "Model", cell: (row) => html`<bdi>${row.provider}/${row.model}</bdi>` },
  { label: "Outcome", cell: (row) => html`<${Badge} kind=${row.outcome === "held" ? "ask" : "plain"}>${row.outcome}<//>` },
  { label: "From", cell: (row) => html`<${Time} at=${row.changes[0]?.effective_from} />` },
  { label: "Before, in / out", cell: (row) => values(row.changes[0]?.before) },
  { label: "After, in / out", cell: (row) => values(row.changes[0]?.after) },
  { label: "Held because", wide: true, cell: (row) => row.held_because.map((each) => each.reason).join("; ") || "–" },
];

function Report({ report }) {
  const { counts } = report;
  return html`<h2>${report.dry_run ? "What the import would change" : "What the import changed"}</h2>
    <p role="status">${counts.added} added, ${counts.changed} changed, ${counts.unchanged} unchanged, ${counts.held} held back, ${counts.skipped} skipped, ${counts.vanished} no longer listed. From ${report.source.name} ${report.source.version ?? ""}.</p>
    <${Table} caption="Differences" columns=${COLUMNS} rows=${report.differences.slice(0, ROWS_MAX)} rowKey=${(row) => `${row.provider}/${row.model}`} empty="The list and the catalog agree." />
    ${report.differences.length > ROWS_MAX && html`<p class="warning">The first ${ROWS_MAX} of ${report.differences.length} are shown.</p>`}`;
}

export function PriceImport({ imported }) {
  const [source, setSource] = useState("genai-prices");
  const [file, setFile] = useState(null);
  const [confirm, setConfirm] = useState("");
  const [report, setReport] = useState(null);
  const run = async (dry) => {
    const body = source === "litellm" ? await file.text() : undefined;
    const answer = await call("POST", `/api/llm-router/prices/imports/${source}`, {
      query: { dry_run: dry, confirm: dry ? undefined : confirm.trim() || undefined }, body,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
    });
    setReport(answer.data);
    return answer;
  };
  const action = useAction(run, () => imported());
  const missing = source === "litellm" && !file;
  return html`<details><summary>Import a price list</summary>
    <form class="stack" onSubmit=${(event) => { event.preventDefault(); action.run(true); }}>
      <${Field} label="List" value=${source} onValue=${setSource} choices=${[{ value: "genai-prices", label: "of the installed package genai-prices" }, { value: "litellm", label: "a price file of LiteLLM" }]} any=${null} />
      ${source === "litellm" && html`<div class="field"><label for="price-file">Price file</label><input id="price-file" type="file" accept=".json,application/json" onChange=${(event) => setFile(event.target.files[0] ?? null)} /></div>`}
      <p class="buttons"><button type="submit" disabled=${action.busy || missing}>${action.busy ? "Working …" : "Dry run"}</button></p>
      ${report?.dry_run && html`<${Field} label="Held-back models to import, too" value=${confirm} onValue=${setConfirm} help="provider/model, separated by commas, or all" />
        <p class="buttons"><button type="button" disabled=${action.busy} onClick=${() => action.run(false)}>Import</button></p>`}
    </form>
    <${Outcome} action=${action} />
    ${report && html`<${Report} report=${report} />`}
  </details>`;
}
