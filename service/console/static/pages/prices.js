// Providers and models with the prices of any time, and importing price lists.
// Shows: prices at any time, as known at any time
// Does: sets, corrects and ends prices (one with a `structure` is corrected by the
// API), imports price lists with a dry run
import { FormDialog, Outcome, useAction } from "../app/actions.js";
import { call } from "../app/api.js";
import { plural } from "../app/format.js";
import { has, isSuperuser, useMe } from "../app/me.js";
import { Badge, Cut, Field, Filters, NotOffered, Page, Reading, Table } from "../app/parts.js";
import { useRead } from "../app/reads.js";
import { link } from "../app/route.js";
import { Time, WrongTimes, momentsOf, timeOf } from "../app/time.js";
import { html, useState } from "../app/ui.js";

const ROWS_MAX = 200;

// Importing a price list: first what it would change, then the import itself.

const values = (price) => (price ? `${price.input_price_per_1m ?? "?"} / ${price.output_price_per_1m ?? "?"} ${price.currency}` : "–");

const amount = (value) => value ?? "none";
const doubt = ({ subject, condition, before, after }) =>
  (condition ? `${subject} (${condition})` : subject) + (before === null && after === null ? "" : `: ${amount(before)} before, ${amount(after)} after`);
const whyHeld = (row) => [...row.held_because.map((each) => each.reason), ...row.changes.filter((each) => row.outcome === "held" && each.doubt).map((each) => doubt(each.doubt))];

const CHANGE_COLUMNS = [
  { label: "Model", cell: (row) => html`<bdi>${row.provider}/${row.model}</bdi>` },
  { label: "Outcome", cell: (row) => html`<${Badge} kind=${row.outcome === "held" ? "ask" : "plain"}>${row.outcome}<//>` },
  { label: "From", cell: (row) => html`<${Time} at=${row.changes[0]?.effective_from} />` },
  { label: "Before, in / out", cell: (row) => values(row.changes[0]?.before) },
  { label: "After, in / out", cell: (row) => values(row.changes[0]?.after) },
  { label: "Held because", wide: true, cell: (row) => whyHeld(row).join("; ") || "–" },
];

const SKIPPED_COLUMNS = [
  { label: "Provider", cell: (row) => html`<bdi>${row.provider || "–"}</bdi>` },
  { label: "Model", cell: (row) => html`<${Cut} text=${row.model} length=${60} />` },
  { label: "Kind", cell: (row) => html`<${Badge} kind=${row.is_invalid ? "ask" : "plain"}>${row.code.replaceAll("_", " ")}<//>` },
  { label: "Reason", wide: true, cell: (row) => row.reason },
];

function Skipped({ rows }) {
  const shown = [...rows.filter((row) => row.is_invalid), ...rows.filter((row) => !row.is_invalid)];
  const invalid = rows.filter((row) => row.is_invalid).length;
  return html`${invalid > 0 && html`<p class="warning">${plural(invalid, "row")} of the list with an invalid price: correct the list.</p>`}
    <${Table} caption="Skipped rows" columns=${SKIPPED_COLUMNS} rows=${shown.slice(0, ROWS_MAX)} rowKey=${(row, index) => index} empty="No row was skipped." />
    ${shown.length > ROWS_MAX && html`<p class="warning">And ${shown.length - ROWS_MAX} more.</p>`}`;
}

function Report({ report }) {
  const { counts } = report;
  return html`<h2>${report.dry_run ? "What the import would change" : "What the import changed"}</h2>
    <p role="status">${counts.added} added, ${counts.changed} changed, ${counts.unchanged} unchanged, ${counts.held} held back, ${counts.skipped} skipped, ${counts.vanished} no longer listed. From ${report.source.name} ${report.source.version ?? ""}.</p>
    ${report.not_held.length > 0 && html`<p class="warning">Nothing was held back of: ${report.not_held.join(", ")}.</p>`}
    <${Table} caption="Differences" columns=${CHANGE_COLUMNS} rows=${report.differences.slice(0, ROWS_MAX)} rowKey=${(row) => `${row.provider}/${row.model}`} empty="The list and the catalog agree." />
    ${report.differences.length > ROWS_MAX && html`<p class="warning">The first ${ROWS_MAX} of ${report.differences.length} are shown.</p>`}
    <${Skipped} rows=${report.skipped} />`;
}

function PriceImport({ imported }) {
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

const price = (value) => (value === null ? html`<span class="none">unknown</span>` : value);

const COLUMNS = [
  { label: "Provider", sort: (row) => row.provider, cell: (row) => html`<span title=${row.provider}>${row.display_name}</span>` },
  { label: "Model", sort: (row) => row.model, cell: (row) => html`<a href=${link(["prices", row.provider, row.model])}><${Cut} text=${row.model} length=${60} /></a>` },
  { label: "Input", number: true, sort: (row) => Number(row.input_price_per_1m ?? -1), cell: (row) => price(row.input_price_per_1m) },
  { label: "Output", number: true, sort: (row) => Number(row.output_price_per_1m ?? -1), cell: (row) => price(row.output_price_per_1m) },
  { label: "Cache read", number: true, sort: (row) => Number(row.cache_read_price_per_1m ?? -1), cell: (row) => price(row.cache_read_price_per_1m) },
  { label: "Cache write", number: true, sort: (row) => Number(row.cache_creation_price_per_1m ?? -1), cell: (row) => price(row.cache_creation_price_per_1m) },
  { label: "Currency", cell: (row) => row.currency },
  { label: "By contract, in / out", cell: (row) => values(row.contract) },
  { label: "Since", sort: (row) => row.effective_from, cell: (row) => html`<${Time} at=${row.effective_from} />` },
  { label: "Until", cell: (row) => (row.effective_until ? html`<${Time} at=${row.effective_until} />` : html`<${Badge} kind="plain">open<//>`) },
];

function AddProvider({ added }) {
  const [key, setKey] = useState("");
  const [name, setName] = useState("");
  return html`<${FormDialog} label="Add a provider" submit="Add" perform=${() => call("POST", "/api/llm-router/providers", { body: { key: key.trim(), display_name: name.trim() } })} after=${added}>
    <${Field} label="Key" name="key" value=${key} onValue=${setKey} required=${true} help="As turns name it; it can't be changed later." />
    <${Field} label="Name" name="display_name" value=${name} onValue=${setName} required=${true} />
  <//>`;
}

function SetPrice({ done }) {
  const [values, setValues] = useState({ provider: "", model: "", input: "", output: "", from: "" });
  const set = (name) => (value) => setValues({ ...values, [name]: value });
  const body = () => ({
    provider: values.provider.trim(), model: values.model.trim(),
    input_price_per_1m: values.input.trim() || null, output_price_per_1m: values.output.trim() || null,
    effective_from: timeOf(values.from),
  });
  return html`<${FormDialog} label="Set a price" submit="Set" perform=${async () => call("POST", "/api/llm-router/prices", { body: body() })} after=${done}>
    <p>For 1,000,000 tokens, in USD. An earlier open period ends where this one starts.</p>
    <${Field} label="Provider key" name="provider" value=${values.provider} onValue=${set("provider")} required=${true} />
    <${Field} label="Model" name="model" value=${values.model} onValue=${set("model")} required=${true} />
    <${Field} label="Input price" name="input_price_per_1m" value=${values.input} onValue=${set("input")} inputmode="decimal" />
    <${Field} label="Output price" name="output_price_per_1m" value=${values.output} onValue=${set("output")} inputmode="decimal" />
    <${Field} label="Effective from" name="effective_from" value=${values.from} onValue=${set("from")} placeholder="now" help="As in 2026-05-31 14:00" />
  <//>`;
}

export default function Prices({ query }) {
  const me = useMe();
  const hasImports = has(me, "price_imports");
  const { sent, wrong } = momentsOf(query, ["as_of", "at"]);
  const read = useRead(wrong.length ? null : "/api/llm-router/providers", sent);
  const wanted = (query.model ?? "").toLowerCase();
  const providers = read.data ?? [];
  const rows = providers.flatMap((provider) => provider.models.map((model) => ({ ...model, provider: provider.provider, display_name: provider.display_name })))
    .filter((row) => (!query.provider || row.provider === query.provider) && row.model.toLowerCase().includes(wanted));
  const fields = [
    { name: "provider", label: "Provider", choices: providers.map((each) => ({ value: each.provider, label: each.display_name })) },
    { name: "model", label: "Model contains" },
    { name: "as_of", label: "Prices effective at", placeholder: "now" },
    { name: "at", label: "As recorded at", placeholder: "now" },
  ];
  const changed = () => read.refresh();
  return html`<${Page} title="Models and prices" lead="Prices for 1,000,000 tokens that are effective now, or at any time, as known then or now."
    actions=${isSuperuser(me) ? html`<p class="buttons"><${SetPrice} done=${changed} /><${AddProvider} added=${changed} /></p>` : html`<${NotOffered} what=${hasImports ? "Setting and importing prices" : "Setting prices"} reason="for superusers" />`}>
    <${Filters} fields=${fields} />
    <${WrongTimes} wrong=${wrong} />
    ${wrong.length === 0 && html`<${Reading} read=${read} what="Reading prices">${() => html`
      <p role="status" class="meta">${plural(rows.length, "model")} of ${plural(providers.length, "provider")}${rows.length > ROWS_MAX ? `; the first ${ROWS_MAX} are shown, filter for others` : ""}.</p>
      <${Table} caption="Prices" hideCaption=${true} columns=${COLUMNS} rows=${rows.slice(0, ROWS_MAX)} rowKey=${(row) => `${row.provider}/${row.model}`} empty="No model has a price at this time that matches." />`}<//>`}
    ${hasImports && isSuperuser(me) && html`<${PriceImport} imported=${changed} />`}
  <//>`;
}
