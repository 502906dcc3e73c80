// The filters of the audit trail, and saving what they find.
import { curlOf, download } from "./api.js";
import { Copy, Failure } from "./parts.js";
import { isPosition, momentsOf } from "./time.js";
import { html, useEffect, useRef, useState } from "./ui.js";

const FILTERS = ["actor", "kind", "resource", "request_id"];

// Return { sent, wrong }: the API's parameters, and the times that can't be read.
export function filtersOf(query) {
  const sent = Object.fromEntries(FILTERS.map((name) => [name, query[name]?.trim()]));
  const { sent: moments, wrong } = momentsOf(query, ["from", "until"]);
  for (const [end, moment] of Object.entries(moments)) sent[`${end}_${isPosition(moment) ? "position" : "time"}`] = moment;
  return { sent, wrong };
}

const FORMATS = [
  { name: "jsonl", label: "Export JSON Lines" },
  { name: "csv", label: "Export CSV" },
];
// How the last line begins: what a proxy ends early is not taken for the whole.
const ENDS = { jsonl: (line) => line.startsWith('{"end":'), csv: (line) => line.startsWith("end,,") };
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(bytes < 1e6 ? 2 : 1)} MB`;

export function Export({ filters }) {
  const [state, setState] = useState({});
  const controller = useRef(null);
  useEffect(() => () => controller.current?.abort(), []);
  const path = (format) => `/api/audit/export.${format}`;
  const save = async (format) => {
    controller.current = new AbortController();
    setState({ running: true, bytes: 0 });
    try {
      const { signal } = controller.current;
      let bytes = 0;
      const onBytes = (read) => setState({ running: true, bytes: (bytes = read) });
      await download(path(format), filters, `audit.${format}`, { signal, onBytes, isWhole: ENDS[format] });
      setState({ bytes, saved: `audit.${format}` });
    } catch (error) {
      setState(error.name === "AbortError" ? { cancelled: true } : { error });
    }
  };
  return html`<section aria-labelledby="export"><h2 id="export">Export</h2>
    <p>Everything that the filters find, oldest first, on all pages. JSON Lines have each entry as recorded; without filters they are the input of <code>agent-runtime audit verify</code>. The export is itself an entry of the trail.</p>
    <p class="buttons">
      ${FORMATS.map(({ name, label }) => html`<button type="button" class="quiet" disabled=${state.running} onClick=${() => save(name)}>${label}</button>`)}
      ${state.running && html`<button type="button" class="danger" onClick=${() => controller.current.abort()}>Cancel</button>`}
      <${Copy} label="Copy export as curl" text=${() => `${curlOf(path("jsonl"), filters)} > audit.jsonl`} />
      <span role="status">${state.running && `${megabytes(state.bytes)} so far …`}${state.saved && `✓ saved ${state.saved}, ${megabytes(state.bytes)}`}${state.cancelled && "cancelled; nothing was saved"}</span>
    </p>
    <${Failure} error=${state.error} />
  </section>`;
}
