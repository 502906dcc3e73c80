// Readiness, followers with their lag, the relay, and the check of the log.
import { number } from "../app/format.js";
import { Badge, Facts, Page, Reading, Table } from "../app/parts.js";
import { useRead } from "../app/reads.js";
import { Time } from "../app/time.js";
import { html, useEffect } from "../app/ui.js";

const EVERY_MS = 10_000;
const COLUMNS = [
  { label: "Follower", sort: (row) => row.name, cell: (row) => html`<code>${row.name}</code>` },
  { label: "State", cell: (row) => (row.stopped ? html`<${Badge} kind="deny">✕ stopped<//>` : html`<${Badge} kind="allow">✓ running<//>`) },
  { label: "Position", number: true, sort: (row) => row.position, cell: (row) => number(row.position) },
  { label: "Lag, events", number: true, sort: (row) => row.lag, cell: (row) => number(row.lag) },
  { label: "Lag, seconds", number: true, sort: (row) => Number(row.lag_s ?? 0), cell: (row) => (row.lag_s === null ? "–" : Number(row.lag_s).toFixed(1)) },
  { label: "Reason", wide: true, cell: (row) => row.stopped ?? "–" },
];

export default function Operation() {
  const read = useRead("/readyz");
  useEffect(() => {
    const timer = setInterval(read.refresh, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  const ready = read.data;
  const relay = ready?.followers?.find((each) => each.name.startsWith("relay"));
  return html`<${Page} title="Operation" lead="Read again every ten seconds.">
    <${Reading} read=${read} what="Reading readiness">${() => html`
      <p class="figure"><${Badge} kind=${ready.status === "ready" ? "allow" : "deny"}>${ready.status === "ready" ? "✓" : "✕"} ${ready.status}<//></p>
      <${Facts} facts=${[
        ["End of the log", `position ${number(ready.log_position)}`],
        ["Relay to Kafka", relay ? `position ${number(relay.position)}, ${number(relay.lag)} behind` : "not running in this database"],
        ["Log checked up to", ready.log_check ? `position ${number(ready.log_check.position)}` : "not checked yet"],
        ["Last complete check", ready.log_check?.completed_at ? html`<${Time} at=${ready.log_check.completed_at} />` : "none yet"],
        ["Contradiction", ready.log_check?.contradiction ?? "none found"],
        ["Trace store", ready.trace_store ?? "none"],
      ]} />
      <${Table} caption="Followers" columns=${COLUMNS} rows=${ready.followers} rowKey=${(row) => row.name} empty="No followers have saved a position yet." />
      <p><a href="/metrics">Metrics</a> · <a href="/docs">API</a></p>`}<//>
  <//>`;
}
