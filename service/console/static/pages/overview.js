// What needs a hand, at first sight.
// Shows: the latest tool calls, with the reason of each decision, and sessions; what
// needs a hand: the service itself, refused changes and calls, approvals and
// definitions that wait (of 40 connectors at most), connectors whose tools can't be
// listed, or whose calls fail, and why, offers; cost today; what couldn't be read, and
// in grey what wasn't looked at completely
import { get } from "../app/api.js";
import { useMayDecide } from "../app/approvals.js";
import { OUTCOME_CHOICES, REFUSALS, ToolName, ToolOf, refusalOf } from "../app/calls.js";
import { costs, knownTokens, money, number, plural } from "../app/format.js";
import { Latest } from "../app/latest.js";
import { has, isSuperuser, seesEverything, useMe } from "../app/me.js";
import { Named, listed } from "../app/names.js";
import { Badge, Card, CardStates, Failure, Page, Reading, cardState } from "../app/parts.js";
import { LISTED_MAX, useRead, useSignIns } from "../app/reads.js";
import { link } from "../app/route.js";
import { Time, duration, left, linkedTime } from "../app/time.js";
import { html, useEffect, useMemo, useState } from "../app/ui.js";

// Connectors that need a hand: definitions that wait to be accepted, and calls that fail.

// A read each, of up to a megabyte.
const CONNECTORS_MAX = 40;
const WAITING = ["changed", "new"];
const SHOWN = 4;

// Return { found, looked, all } of the connectors that the caller decides over, those
// whose calls were refused for it first.
async function waitingDefinitions(me, refused) {
  const names = new Set(refused.filter((each) => each.reason === "definition_changed").map((each) => each.connector_id));
  const rank = (each) => (names.has(each.id) ? 0 : each.owner_id === me.id ? 1 : 2);
  const mine = (await listed("connectors")).filter((each) => isSuperuser(me) || each.owner_id === me.id).sort((one, other) => rank(one) - rank(other));
  const looked = mine.slice(0, CONNECTORS_MAX);
  const answers = await Promise.all(looked.map((each) => get(`/api/mcp/connectors/${each.id}/definitions`)));
  const found = answers.map(({ data }) => ({
    id: data.connector_id,
    counts: WAITING.map((standing) => [standing, data.tools.filter((tool) => tool.standing === standing).length]).filter(([, count]) => count > 0),
  })).filter((each) => each.counts.length > 0);
  return { found, looked: looked.length, all: mine.length };
}

function Definitions({ refused }) {
  const me = useMe();
  const [state, setState] = useState({});
  const { readAt } = refused;
  const signIns = useSignIns();
  useEffect(() => {
    if (!refused.data) return undefined;
    let current = true;
    waitingDefinitions(me, refused.data.calls).then((data) => current && setState({ data }), (error) => current && setState({ error }));
    return () => {
      current = false;
    };
  }, [me.id, readAt, signIns]);
  const { found = [], looked, all } = state.data ?? {};
  const total = found.flatMap((each) => each.counts).reduce((sum, [, count]) => sum + count, 0);
  const isBad = found.some((each) => each.counts.some(([standing]) => standing === "changed"));
  const isPart = looked < all;
  return html`<${Card} title="Tool definitions to accept" href=${link("connectors")} state=${cardState(state, isBad ? "bad" : total ? "warn" : isPart ? "unknown" : "good")}>
    ${state.error ? html`<${Failure} error=${state.error} />` : !state.data ? html`<p class="working" role="status">Reading …</p>`
      : all === 0 ? html`<p>None: you own no connector.</p>`
      : html`<p class="figure">${isPart ? (total ? `${total}+` : "–") : total}</p>
      <ul class="plain">${found.slice(0, SHOWN).map(({ id, counts }) => html`<li><a href=${link(["definitions", id])}><${Named} kind="connectors" id=${id} plain=${true} /></a>: ${counts.map(([standing, count]) => `${count} ${standing}`).join(", ")}</li>`)}</ul>
      ${found.length > SHOWN && html`<p>and more</p>`}
      ${isPart && html`<p>Only ${looked} connectors of ${all}${all >= LISTED_MAX ? " or more" : ""} were looked at.</p>`}`}
  <//>`;
}

const OUTCOMES = ["upstream_error", "timeout", "not_sent"];
const CAUSES = ["circuit_open", "credential_missing", "not_connected"];

// Return [id, causes] of each connector, with how often each cause was the last hour's.
function byConnector(calls, unlisted) {
  const found = new Map(unlisted.map(({ id, health_message: message, health_at: at }) => [id, new Map([[html`its tools can't be listed: <bdi>${message}</bdi> (<${Time} at=${at} />)`, 1]])]));
  for (const each of calls) {
    const cause = each.decision === "refused" ? CAUSES.includes(each.reason) && REFUSALS[each.reason] : OUTCOME_CHOICES.find(({ value }) => value === each.outcome)?.label;
    if (!cause || !each.connector_id) continue;
    const causes = found.get(each.connector_id) ?? new Map();
    causes.set(cause, (causes.get(cause) ?? 0) + (each.times ?? 1));
    found.set(each.connector_id, causes);
  }
  return [...found];
}

// Connectors whose tools can't be listed, or whose calls failed in the last hour, and why.
function FailingConnectors({ since, refused }) {
  const unlisted = useRead("/api/mcp/connectors", { health: "failing", limit: 100 });
  const reads = OUTCOMES.map((outcome) => useRead("/api/mcp/calls", { outcome, start_time: since, limit: 100 }));
  const calls = [refused, ...reads];
  const all = [unlisted, ...calls];
  const read = all.find((each) => each.error) ?? all.find((each) => !each.data) ?? refused;
  const found = all.every((each) => each.data) ? byConnector(calls.flatMap((each) => each.data.calls), unlisted.data.connectors) : [];
  const isPart = all.some((each) => each.data?.end_cursor);
  const isUnlisted = (id) => unlisted.data.connectors.some((each) => each.id === id);
  return html`<${Card} title="Failing connectors" href=${link("connectors", { health: "failing" })} state=${cardState(read, found.length ? "bad" : isPart ? "unknown" : "good")}>
    <${Reading} read=${read}>${() => html`<p class="figure">${isPart ? (found.length ? `${found.length}+` : "–") : found.length}</p>
      <ul class="plain">${found.slice(0, SHOWN).map(([id, causes]) => html`<li><a href=${isUnlisted(id) ? link(["connectors", id]) : link("calls", { connector_id: id })}><${Named} kind="connectors" id=${id} plain=${true} /></a>: ${[...causes].map(([cause, count], index) => html`${index > 0 && ", "}${cause}${count > 1 && ` (${number(count)})`}`)}</li>`)}</ul>
      ${found.length > SHOWN && html`<p>and more</p>`}
      ${unlisted.data.end_cursor && html`<p>Of the connectors whose tools can't be listed, only the first ${number(unlisted.data.connectors.length)} were looked at.</p>`}
      ${calls.some((each) => each.data.end_cursor) && html`<p>Of the last hour's calls, only the newest were looked at.</p>`}`}<//>
  <//>`;
}

const HOUR_MS = 3_600_000;
const before = (hours) => () => new Date(Date.now() - hours * HOUR_MS).toISOString();
const lastHour = before(1);
const lastDay = before(24);
// Followers are behind for moments all the time.
const LATE_S = 60;

const nameOf = (follower) => (follower.name === "relay" ? "The relay to Kafka" : `The follower ${follower.name}`);

// What is wrong with the service, in sentences.
function troublesOf({ followers, follower_process: process, trace_store: store, log_check: check, signing }) {
  return [
    ...followers.filter((each) => each.stopped).map((each) => `${nameOf(each)} has stopped.`),
    ...followers.filter((each) => !each.stopped && each.lag_s > LATE_S).map((each) => `${nameOf(each)} is ${duration(each.lag_s * 1000)} behind.`),
    process && process !== "running" && "The process of the followers has ended and is started again.",
    store === "suspended" && "The trace store is suspended after failures.",
    check?.contradiction && `The log contradicts its Merkle tree at ${check.contradiction}.`,
    signing && `Checkpoints of the log: ${signing}.`,
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

const said = (row) => [
  plural(row.turns, "turn"),
  `${knownTokens(row, "total")} tokens`,
  row.turns_with_error > 0 && `${plural(row.turns_with_error, "turn")} failed`,
  row.turns_without_price > 0 && `${plural(row.turns_without_price, "turn")} without a price`,
  row.differing.turns > 0 && `${plural(row.differing.turns, "turn")} with another cost than reported`,
].filter(Boolean).join(", ");

function Today() {
  const day = new Date().toISOString().slice(0, 10);
  const read = useRead("/api/usage", { group_by: "day", from_day: day });
  const row = read.data?.usage[0];
  return html`<${Card} title="Cost today (UTC)" href=${link("usage")} state=${cardState(read, "plain")}>
    <${Reading} read=${read}>${() => html`<p class="figure">${row ? costs(row.unpriced.length ? [...row.known_costs, { cost: null }] : row.known_costs, money) : "0.00 USD"}</p>
      <p>${row ? said(row) : "No turns yet."}</p>`}<//>
  <//>`;
}

function Waiting({ read }) {
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
      <ul class="plain">${found.slice(0, 3).map((each) => html`<li><a href=${link(["calls", each.id])}>${each.tool === null && !each.asked_for ? "unknown tool" : html`<${ToolOf} call=${each} />`}</a>${each.tool !== null && `: ${refusalOf(each)}`}</li>`)}</ul>`}<//>
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
  ["unknown", "Not looked at completely"],
];

// Cards, and what they say together as the first sentence of the page.
function Cards({ before, children }) {
  const [cards, setCards] = useState({});
  const tell = useMemo(() => (title, card) => setCards((before) => ({ ...before, [title]: card })), []);
  const all = Object.entries(cards);
  const found = STANDINGS.map(([state, label]) => [state, label, all.filter(([, card]) => card.state === state)]).filter(([, , named]) => named.length > 0);
  const isLooking = all.some(([, card]) => card.state === undefined);
  return html`<p class="attention" role="status">
      ${found.map(([state, label, named]) => html`<span class=${state}><strong>${label}:</strong> ${named.map(([title, { href }], index) => html`${index > 0 && " · "}<a href=${href}>${title}</a>`)}</span>`)}
      ${isLooking ? "Looking …" : found.length === 0 && "✓ Nothing needs a hand."}
    </p>
    ${before}
    <${CardStates.Provider} value=${tell}><div class="cards">${children}</div><//>`;
}

export default function Overview() {
  const me = useMe();
  const hasGateway = has(me, "gateway");
  const service = useRead("/console/readyz", undefined, { minor: true });
  const refused = useRead(hasGateway ? "/api/mcp/calls" : null, { decision: "refused", start_time: lastHour, limit: 100 });
  const approvals = useRead(hasGateway ? "/api/mcp/approvals" : null, { state: "pending", limit: 100 });
  return html`<${Page} title="Overview" lead="Red needs a hand, yellow is worth a look, green is as it should be.">
    <${Cards} before=${html`<${Latest} approvals=${approvals} />`}>
      <${Service} read=${service} />
      ${seesEverything(me) && html`<${Refusals} since=${lastHour} />`}
      ${hasGateway && html`<${Waiting} read=${approvals} />
      <${Definitions} refused=${refused} />
      <${FailingConnectors} since=${lastHour} refused=${refused} />
      <${RefusedCalls} read=${refused} />`}
      <${FailedSessions} since=${lastDay} />
      <${Offers} />
      <${Today} />
      ${has(me, "proofs") && html`<${Checkpoint} />`}
    <//>
    ${!seesEverything(me) && html`<p class="not-offered">Refused changes of everybody: for superusers and auditors.</p>`}
  <//>`;
}
