// What needs a hand, at first sight.
import { Definitions, FailingConnectors } from "../app/attention.js";
import { useMayDecide } from "../app/approvals.js";
import { ToolName, refusalOf } from "../app/calls.js";
import { costs, number, money, plural } from "../app/format.js";
import { Named } from "../app/names.js";
import { Badge, Card, CardStates, Page, Reading, cardState } from "../app/parts.js";
import { useRead } from "../app/reads.js";
import { link } from "../app/route.js";
import { seesEverything, useMe } from "../app/me.js";
import { duration, left, linkedTime } from "../app/time.js";
import { html, useMemo, useState } from "../app/ui.js";

const HOUR_MS = 3_600_000;
const before = (hours) => () => new Date(Date.now() - hours * HOUR_MS).toISOString();
const lastHour = before(1);
const lastDay = before(24);
// Followers are behind for moments all the time.
const LATE_S = 60;

const nameOf = (follower) => (follower.name === "relay" ? "The relay to Kafka" : `The follower ${follower.name}`);

// What is wrong with the service, in sentences.
function troublesOf({ followers, follower_process: process, trace_store: store, log_check: check }) {
  return [
    ...followers.filter((each) => each.stopped).map((each) => `${nameOf(each)} has stopped.`),
    ...followers.filter((each) => !each.stopped && each.lag_s > LATE_S).map((each) => `${nameOf(each)} is ${duration(each.lag_s * 1000)} behind.`),
    process && process !== "running" && "The process of the followers has ended and is started again.",
    store === "suspended" && "The trace store is suspended after failures.",
    check?.contradiction && `The log contradicts its Merkle tree at ${check.contradiction}.`,
  ].filter(Boolean);
}

function Service({ read }) {
  const { status, followers = [] } = read.data ?? {};
  const troubles = read.data ? troublesOf(read.data) : [];
  const bad = status !== "ready" || followers.some((each) => each.stopped);
  return html`<${Card} title="Service" href=${link("operation")} state=${cardState(read, bad ? "bad" : troubles.length ? "warn" : "good")}>
    <${Reading} read=${read}>${() => html`
      <p class="figure"><${Badge} kind=${bad ? "deny" : "allow"}>${bad ? "✕" : "✓"} ${status}<//></p>
      ${troubles.length > 0 ? html`<ul class="plain">${troubles.map((each) => html`<li>${each}</li>`)}</ul>` : html`<p>${plural(followers.length, "follower")} running, none late.</p>`}`}<//>
  <//>`;
}

function Refusals({ since }) {
  const read = useRead("/api/audit/events", { kind: "refusal.recorded", from_time: since, limit: 100 });
  const count = read.data?.entries.length ?? 0;
  return html`<${Card} title="Refused changes, last hour" href=${link("audit", { kind: "refusal.recorded" })} state=${cardState(read, count ? "warn" : "good")}>
    <${Reading} read=${read}>${() => html`<p class="figure">${count}${read.data.end_cursor ? "+" : ""}</p>
      ${count > 0 && html`<ul class="plain">${read.data.entries.slice(0, 3).map((entry) => html`<li><a href=${link(["audit", entry.position])}><bdi>${entry.actor}</bdi> ${entry.what}</a></li>`)}</ul>`}`}<//>
  <//>`;
}

function Today() {
  const day = new Date().toISOString().slice(0, 10);
  const read = useRead("/api/usage", { group_by: "day", from_day: day });
  const row = read.data?.usage[0];
  return html`<${Card} title="Cost today (UTC)" href=${link("usage")} state=${cardState(read, "plain")}>
    <${Reading} read=${read}>${() => html`<p class="figure">${row ? costs(row.known_costs, money) : "0.00 USD"}</p>
      <p>${row ? `${plural(row.turns, "turn")}, ${number(row.known_token_usage.total)} tokens${row.turns_with_error ? `, ${plural(row.turns_with_error, "turn")} failed` : ""}` : "No turns yet."}
      ${row?.turns_without_price > 0 && ` ${plural(row.turns_without_price, "turn")} without a price.`}</p>`}<//>
  <//>`;
}

function Waiting() {
  const read = useRead("/api/mcp/approvals", { state: "pending", limit: 100 });
  const found = read.data?.approvals ?? [];
  const may = useMayDecide(found);
  const mine = found.filter((each) => may(each));
  return html`<${Card} title="Approvals waiting" href=${link("approvals")} state=${cardState(read, mine.length ? "bad" : found.length ? "warn" : "good")}>
    <${Reading} read=${read}>${() => html`<p class="figure">${found.length}${read.data.end_cursor ? "+" : ""}</p>
      ${found.length > 0 && html`<p>${mine.length ? `${mine.length} for you to decide` : "none for you to decide"}</p>`}
      <ul class="plain">${(mine.length ? mine : found).slice(-3).reverse().map((each) => html`<li><a href=${link(["approvals", each.agent_id, each.id])}><${ToolName} name=${each.tool} /></a> by <${Named} kind="agents" id=${each.agent_id} plain=${true} />, ${left(each.expires_at)}</li>`)}</ul>`}<//>
  <//>`;
}

function RefusedCalls({ read }) {
  const found = read.data?.calls ?? [];
  const count = found.reduce((sum, each) => sum + each.times, 0);
  return html`<${Card} title="Refused tool calls, last hour" href=${link("calls", { decision: "refused" })} state=${cardState(read, count ? "warn" : "good")}>
    <${Reading} read=${read}>${() => html`<p class="figure">${number(count)}${read.data.end_cursor ? "+" : ""}</p>
      <ul class="plain">${found.slice(0, 3).map((each) => html`<li><a href=${link(["calls", each.id])}>${each.tool === null ? "unknown tool" : html`<${ToolName} name=${each.tool} />`}</a>${each.tool !== null && `: ${refusalOf(each)}`}</li>`)}</ul>`}<//>
  <//>`;
}

function Checkpoint() {
  const read = useRead("/api/audit/proofs/inclusion", { position: 1 });
  const size = read.data?.tree_size;
  const isNone = read.error?.code === "no_checkpoint_yet";
  return html`<${Card} title="Last checkpoint" href=${link("verify")} state=${isNone ? "plain" : cardState(read, "good")}>
    ${isNone ? html`<p>None yet: the first is signed within seconds of the first event.</p>` : html`
    <${Reading} read=${read}>${() => html`<p class="figure">position ${number(size)}</p><p>Signed; check it yourself on the page Verify.</p>`}<//>`}
  <//>`;
}

function FailedSessions({ since }) {
  const read = useRead("/api/observability/session/list", { has_error: true, start_time: since, limit: 5 });
  const found = read.data?.sessions ?? [];
  return html`<${Card} title="Sessions with errors, last day" href=${link("sessions", { has_error: "true" })} state=${cardState(read, found.length ? "warn" : "good")}>
    <${Reading} read=${read}>${() => found.length === 0 ? html`<p class="figure">0</p>` : html`<ul class="plain">${found.map((each) => html`<li>${linkedTime(each.start_time, link(["sessions", each.session_id]))} – ${plural(each.num_traces_with_error, "failed turn")}</li>`)}</ul>
      ${read.data.pagination.has_next_page && html`<p>and more</p>`}`}<//>
  <//>`;
}

function Offers() {
  const read = useRead("/api/mcp/connectors", { scope: "offered", limit: 10 });
  const found = read.data?.connectors ?? [];
  return html`<${Card} title="Connectors offered to you" href=${link("connectors", { scope: "offered" })} state=${cardState(read, found.length ? "warn" : "good")}>
    <${Reading} read=${read}>${() => html`<p class="figure">${found.length}</p>
      <ul class="plain">${found.slice(0, 5).map((each) => html`<li><a href=${link(["connectors", each.id])}><bdi>${each.name}</bdi></a></li>`)}</ul>`}<//>
  <//>`;
}

const STANDINGS = [
  ["bad", "Needs a hand"],
  ["warn", "Worth a look"],
];

// Cards, and what they say together as the first sentence of the page.
function Cards({ children }) {
  const [cards, setCards] = useState({});
  const tell = useMemo(() => (title, card) => setCards((before) => ({ ...before, [title]: card })), []);
  const all = Object.entries(cards);
  const found = STANDINGS.map(([state, label]) => [state, label, all.filter(([, card]) => card.state === state)]).filter(([, , named]) => named.length > 0);
  const isLooking = all.some(([, card]) => card.state === undefined);
  return html`<p class="attention" role="status">
      ${found.map(([state, label, named]) => html`<span class=${state}><strong>${label}:</strong> ${named.map(([title, { href }], index) => html`${index > 0 && " · "}<a href=${href}>${title}</a>`)}</span>`)}
      ${isLooking ? "Looking …" : found.length === 0 && "✓ Nothing needs a hand."}
    </p>
    <${CardStates.Provider} value=${tell}><div class="cards">${children}</div><//>`;
}

export default function Overview() {
  const me = useMe();
  const service = useRead("/readyz", undefined, { minor: true });
  const refused = useRead("/api/mcp/calls", { decision: "refused", start_time: lastHour, limit: 100 });
  return html`<${Page} title="Overview" lead="Red needs a hand, yellow is worth a look; the rest is as it should be.">
    <${Cards}>
      <${Service} read=${service} />
      ${seesEverything(me) && html`<${Refusals} since=${lastHour} />`}
      <${Waiting} />
      <${Definitions} refused=${refused} />
      <${FailingConnectors} since=${lastHour} refused=${refused} />
      <${RefusedCalls} read=${refused} />
      <${FailedSessions} since=${lastDay} />
      <${Offers} />
      <${Today} />
      <${Checkpoint} />
    <//>
    ${!seesEverything(me) && html`<p class="not-offered">Refused changes of everybody: for superusers and auditors.</p>`}
  <//>`;
}
