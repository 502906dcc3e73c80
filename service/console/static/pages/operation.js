// What operators watch: readiness, followers with their lag, relay, checkpoints.
// Shows: readiness, followers with their lag, the relay, the check of the log
import { getText } from "../app/api.js";
import { number, plural } from "../app/format.js";
import { Refreshing } from "../app/live.js";
import { has, useMe } from "../app/me.js";
import { Badge, Card, Failure, Page, Reading, Table } from "../app/parts.js";
import { useRead } from "../app/reads.js";
import { Time, duration } from "../app/time.js";
import { html, useEffect, useState } from "../app/ui.js";

const LINE = /^([a-z_]+)(?:\{[^}]*\})? ([-+.\dA-Za-z]+)$/;

// Metrics in the Prometheus text format: of those of this process and of that of its
// followers, the one that does the work has the larger value.
function parseMetrics(text) {
  const found = {};
  for (const line of text.split("\n")) {
    const [, name, value] = LINE.exec(line) ?? [];
    if (name) found[name] = Math.max(found[name] ?? 0, Number(value));
  }
  return found;
}

// Read the metrics of the process that answers, again whenever `turn` changes.
function useMetrics(turn) {
  const [state, setState] = useState({});
  useEffect(() => {
    let current = true;
    getText("/console/metrics")
      .then((text) => current && setState({ metrics: parseMetrics(text) }))
      .catch((error) => current && setState({ error }));
    return () => {
      current = false;
    };
  }, [turn]);
  return { ...state, value: (name) => state.metrics?.[`agent_runtime_${name}`] };
}

const RELAY = "relay";

const MEANING = {
  ready: "Every request can be answered.",
  degraded: "Commands are accepted, but something below has stopped, or is far behind.",
};

function stateOf(follower) {
  if (follower.stopped) return html`<${Badge} kind="deny">✕ stopped<//>`;
  return follower.lag > 0 ? html`<${Badge} kind="ask">… behind<//>` : html`<${Badge} kind="allow">✓ current<//>`;
}

const COLUMNS = [
  { label: "Follower", sort: (row) => row.name, cell: (row) => row.name },
  { label: "State", sort: (row) => (row.stopped ? 0 : row.lag > 0 ? 1 : 2), cell: stateOf },
  { label: "Position", number: true, sort: (row) => row.position, cell: (row) => number(row.position) },
  { label: "Behind by events", number: true, sort: (row) => row.lag, cell: (row) => number(row.lag) },
  { label: "Oldest unread event", number: true, sort: (row) => Number(row.lag_s), cell: (row) => (row.lag > 0 ? duration(Number(row.lag_s) * 1000) : "–") },
  { label: "Reason", wide: true, cell: (row) => (row.stopped ? html`<bdi>${row.stopped}</bdi>` : html`<span class="none">–</span>`) },
];

function Relay({ relay, metrics }) {
  if (!relay) {
    return html`<${Card} title="Relay to Kafka"><p class="figure">not used</p><p>Nothing of this log was published. The relay starts with <code>--kafka</code>.</p><//>`;
  }
  return html`<${Card} title="Relay to Kafka" state=${relay.stopped ? "bad" : relay.lag > 0 ? "warn" : "good"}>
    <p class="figure">${stateOf(relay)}</p>
    <p>${relay.stopped ? html`<bdi>${relay.stopped}</bdi>` : `published up to position ${number(relay.position)}, ${plural(relay.lag, "event")} behind`}</p>
    ${metrics.metrics && html`<p>${metrics.value("relay_up") ? `This server publishes: ${number(metrics.value("relay_events_total"))} events since its start.` : "Another server publishes, or none."}</p>`}<//>`;
}

function LogCheck({ check }) {
  if (!check) return html`<${Card} title="Log check"><p class="figure">not started</p><//>`;
  return html`<${Card} title="Log check" state=${check.contradiction ? "bad" : "good"}>
    <p class="figure">${check.contradiction ? "✕ contradiction" : "✓ nothing found"}</p>
    ${check.contradiction && html`<p><bdi>${check.contradiction}</bdi></p>`}
    <p>This pass compared the log with its Merkle tree up to position ${number(check.position)}; ${check.completed_at ? html`the last whole pass ended <${Time} at=${check.completed_at} />` : "no pass has ended yet"}.</p><//>`;
}

function Checkpoints({ problem, metrics }) {
  const hasRelay = has(useMe(), "relay");
  const [position, published] = ["checkpoint_position", "checkpoint_published_position"].map(metrics.value);
  return html`<${Card} title="Checkpoints" state=${problem ? "bad" : position ? "good" : undefined}>
    <${Failure} error=${metrics.error} />
    ${problem && html`<p class="figure">✕ not as they should be</p><p><bdi>${problem}</bdi></p>`}
    ${metrics.metrics && html`${!problem && html`<p class="figure">${position ? `position ${number(position)}` : "none by this server"}</p>`}
      ${hasRelay && html`<p>${published ? `On Kafka up to position ${number(published)}.` : "None was published to Kafka by this server."}</p>`}`}<//>`;
}

function Whole({ data, metrics }) {
  const me = useMe();
  const followers = data.followers.filter((each) => each.name !== RELAY);
  const unreadable = metrics.value("unreadable_values_total");
  return html`<div class="cards">
      <${Card} title="Service" state=${data.status === "ready" ? "good" : "bad"}><p class="figure">${data.status === "ready" ? "✓" : "✕"} ${data.status}</p>
        <p>${MEANING[data.status] ?? ""} ${data.log_position === null ? "All connections to the database are in use." : `The log ends at position ${number(data.log_position)}.`}</p>
        ${unreadable > 0 && html`<p>${plural(unreadable, "sealed value")} couldn't be read by this server since its start.</p>`}<//>
      ${has(me, "relay") && html`<${Relay} relay=${data.followers.find((each) => each.name === RELAY)} metrics=${metrics} />`}
      ${has(me, "proofs") && html`<${LogCheck} check=${data.log_check} />
      <${Checkpoints} problem=${data.signing} metrics=${metrics} />`}
      ${data.trace_store && html`<${Card} title="Trace store" state=${data.trace_store === "available" ? "good" : "warn"}><p class="figure">${data.trace_store}</p><p>${data.trace_store === "available" ? "Lists of sessions have its data." : "Suspended after failures: lists are answered without its data."}</p><//>`}
    </div>
    <${Table} caption="Followers, which fill the read tables" columns=${COLUMNS} rows=${followers} rowKey=${(row) => row.name}
      empty="No process runs the followers: start one with --only followers." />
    ${followers.some((each) => each.stopped) && html`<p class="warning">A stopped follower retries every 30 s; commands and the other followers continue, while its tables get older. docs/operations/followers.md says what to do.</p>`}`;
}

export default function Operation() {
  const [on, setOn] = useState(false);
  const read = useRead("/console/readyz");
  const metrics = useMetrics(read.readAt);
  const me = useMe();
  const figures = [has(me, "relay") && "the relay", has(me, "proofs") && "checkpoints"].filter(Boolean).join(" and of ");
  return html`<${Page} title="Operation" lead=${`Whether the service can answer, and how far its followers are.${figures && ` Figures of ${figures} are those of the server that answered.`}`}>
    <${Refreshing} on=${on} setOn=${setOn} read=${read} />
    <${Reading} read=${read} what="Reading the state">${() => html`<${Whole} data=${read.data} metrics=${metrics} />`}<//>
  <//>`;
}
