// The prices of one model over time, and who said so and when.
import { Confirmed, FormDialog } from "../app/actions.js";
import { call } from "../app/api.js";
import { Facts, Field, NotOffered, Page, Reading, Table } from "../app/parts.js";
import { useRead } from "../app/reads.js";
import { link } from "../app/route.js";
import { isSuperuser, seesEverything, useMe } from "../app/me.js";
import { Time } from "../app/time.js";
import { Timeline } from "../app/timeline.js";
import { html, useState } from "../app/ui.js";

const DAY_MS = 86_400_000;
const isCurrent = (row) => row.known_until === null;
const label = (row) => `${row.input_price_per_1m ?? "?"} / ${row.output_price_per_1m ?? "?"} ${row.currency}`;

const AMOUNTS = [
  ["input_price_per_1m", "Input price"],
  ["output_price_per_1m", "Output price"],
  ["cache_creation_price_per_1m", "Cache write price"],
  ["cache_read_price_per_1m", "Cache read price"],
];

const correctionsOf = (model, row) => `/api/llm-router/models/${model.model_id}/prices/${row.price_version}/corrections`;

// A correction replaces the whole price, so all that the price has is sent again.
function Correct({ model, row, done }) {
  const [values, setValues] = useState(Object.fromEntries(AMOUNTS.map(([name]) => [name, String(row[name] ?? "")])));
  const [notes, setNotes] = useState(row.notes ?? "");
  const amounts = () => Object.fromEntries(AMOUNTS.map(([name]) => [name, values[name].trim() || null]));
  const perform = () => call("POST", correctionsOf(model, row), {
    body: { ...amounts(), currency: row.currency, notes: notes || null }, ifMatch: model.version,
  });
  return html`<${FormDialog} label="Correct" title="Correct this price" perform=${perform} after=${done}>
    <p>For its whole period. The price as it was known before stays in the history.</p>
    ${AMOUNTS.map(([name, label]) => html`<${Field} label=${label} name=${name} value=${values[name]} onValue=${(value) => setValues({ ...values, [name]: value })} inputmode="decimal" />`)}
    <${Field} label="Notes" name="notes" lines=${3} value=${notes} onValue=${setNotes} />
  <//>`;
}

function End({ model, row, done }) {
  return html`<${Confirmed} label="End" title="End this price now?" danger=${true} after=${done} perform=${() => call("POST", `/api/llm-router/models/${model.model_id}/prices/${row.price_version}/end`, { body: {}, ifMatch: model.version })}>
    <p>Turns that begin from now on have no price, until you set another.</p><//>`;
}

function History({ model, may, done }) {
  const all = seesEverything(useMe());
  const columns = [
    { label: "Effective from", sort: (row) => row.effective_from, cell: (row) => html`<${Time} at=${row.effective_from} />` },
    { label: "Until", cell: (row) => (row.effective_until ? html`<${Time} at=${row.effective_until} />` : "open") },
    { label: "Input", number: true, cell: (row) => row.input_price_per_1m ?? "unknown" },
    { label: "Output", number: true, cell: (row) => row.output_price_per_1m ?? "unknown" },
    { label: "Cache write", number: true, cell: (row) => row.cache_creation_price_per_1m ?? "unknown" },
    { label: "Cache read", number: true, cell: (row) => row.cache_read_price_per_1m ?? "unknown" },
    { label: "Currency", cell: (row) => row.currency },
    { label: "Known since", cell: (row) => html`<${Time} at=${row.known_from_time} />${all && html` (<a href=${link(["audit", row.known_from])}>who</a>)`}` },
    { label: "Replaced", cell: (row) => (row.known_until_time ? html`<${Time} at=${row.known_until_time} />` : "–") },
    { label: "Source", cell: (row) => (row.source ? `${row.source.name} ${row.source.version ?? ""}` : "set by hand") },
    may && { label: "Change", cell: (row) => (isCurrent(row) ? html`<span class="buttons">${!row.structure && html`<${Correct} model=${model} row=${row} done=${done} />`}${!row.effective_until && html`<${End} model=${model} row=${row} done=${done} />`}</span>` : "–") },
  ].filter(Boolean);
  return html`<${Table} caption="Every price, in the order in which it was recorded" columns=${columns} rows=${model.prices} rowKey=${(row, index) => `${row.price_version} ${index}`} empty="No price was ever recorded." />`;
}

export default function Price({ rest, query }) {
  const [provider, ...parts] = rest;
  const name = parts.join("/");
  const me = useMe();
  const read = useRead("/api/llm-router/prices", { provider, model: name, limit: 100, after: query.after });
  const model = read.data;
  const may = isSuperuser(me);
  return html`<${Page} title="Price of ${name}">
    <${Reading} read=${read} what="Reading the price history">${() => {
      const starts = model.prices.map((row) => Date.parse(row.effective_from));
      const ends = model.prices.map((row) => (row.effective_until ? Date.parse(row.effective_until) : read.readAt));
      const lanes = model.prices.map((row) => ({ label: label(row), spans: [{ from: Date.parse(row.effective_from), until: row.effective_until ? Date.parse(row.effective_until) : null, alt: !isCurrent(row) }] }));
      return html`
        <${Facts} facts=${[["Provider", model.display_name], ["Model", html`<bdi>${model.model}</bdi>`], ["Version", model.version], ["Usage", html`<a href=${link("usage", { model: name })}>of this model</a>`]]} />
        ${lanes.length > 0 && html`<${Timeline} caption="Periods, input / output per 1,000,000 tokens; replaced ones in another colour" lanes=${lanes} from=${Math.min(...starts)} until=${Math.max(...ends, ...starts) + DAY_MS} />`}
        ${!may && html`<${NotOffered} what="Correcting and ending prices" reason="for superusers" />`}
        ${may && model.prices.filter((row) => isCurrent(row) && row.structure).map((row) => html`<${NotOffered} what="Correcting price ${row.price_version} here" reason=${html`it has more rates than these four amounts, such as tiers; correct all of them by <code>POST ${correctionsOf(model, row)}</code>, with the <code>structure</code>`} />`)}
        <${History} model=${model} may=${may} done=${() => read.refresh()} />
        ${model.prices.filter((row) => row.notes).map((row) => html`<p class="meta">Price ${row.price_version}, notes: <bdi>${row.notes}</bdi></p>`)}
        ${model.end_cursor && html`<nav class="paging" aria-label="Pages"><a href=${link(["prices", ...rest], { ...query, after: model.end_cursor })}>Next page</a></nav>`}`;
    }}<//>
  <//>`;
}
