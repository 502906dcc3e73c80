// What needs a hand, at first sight.
import { useMayDecide } from "../app/approvals.js";
import { ToolName, refusalOf } from "../app/calls.js";
import { number, money, plural } from "../app/format.js";
import { Named } from "../app/names.js";
import { Badge, Card, Page, Reading } from "../app/parts.js";
import { useRead } from "../app/reads.js";
import { link } from "../app/route.js";
import { seesEverything, useMe } from "../app/me.js";
import { Time, left } from "../app/time.js";
import { html, useMemo } from "../app/ui.js";

const HOUR_MS = 3_600_000;

function Service({ read }) {
  const { status, followers = [], log_check: check } = read.data ?? {};
  const stopped = followers.filter((each) => each.stopped);
  const behind = followers.filter((each) => each.lag > 0);
  const bad = status !== "ready" || stopped.length > 0 || check?.contradiction;
  return html`<${Card} title="Service" href=${link("operation")} state=${read.data && (bad ? "bad" : "good")}>
    <${Reading} read=${read}>${() => html`
      <p class="figure"><${Badge} kind=${bad ? "deny" : "allow"}>${bad ? "✕" : "✓"} ${status}<//></p>
      <p>${stopped.length ? `${plural(stopped.length, "follower")} stopped: ${stopped.map((each) => each.name).join(", ")}` : `${plural(followers.length, "follower")} running, ${behind.length ? `${behind.length} behind by at most ${Math.max(...behind.map((each) => each.lag))} events` : "none behind"}`}</p>
      ${check?.contradiction && html`<p>The log contradicts its Merkle tree at ${check.contradiction}.</p>`}`}<//>
  <//>`;
}

function Refusals({ since }) {
  const read = useRead("/api/audit/events", { kind: "refusal.recorded", from_time: since, limit: 100 });
  const count = read.data?.entries.length ?? 0;
  return html`<${Card} title="Refused changes, last hour" href=${link("audit", { kind: "refusal.recorded" })} state=${read.data && (count ? "warn" : "good")}>
    <${Reading} read=${read}>${() => html`<p class="figure">${count}${read.data.end_cursor ? "+" : ""}</p>
      ${count > 0 && html`<ul class="plain">${read.data.entries.slice(0, 3).map((entry) => html`<li><a href=${link(["audit", entry.position])}><bdi>${entry.actor}</bdi> ${entry.what}</a></li>`)}</ul>`}`}<//>
  <//>`;
}

function Today() {
  const day = new Date().toISOString().slice(0, 10);
  const read = useRead("/api/usage", { group_by: "day", from_day: day });
  const row = read.data?.usage[0];
  return html`<${Card} title="Cost today (UTC)" href=${link("usage")}>
    <${Reading} read=${read}>${() => html`<p class="figure">${row ? money(row.cost, row.currency) : "0.00 USD"}</p>
      <p>${row ? `${plural(row.turns, "turn")}, ${number(row.known_token_usage.total)} tokens${row.turns_with_error ? `, ${plural(row.turns_with_error, "turn")} failed` : ""}` : "No turns yet."}
      ${row?.turns_without_price > 0 && ` ${plural(row.turns_without_price, "turn")} without a price.`}</p>`}<//>
  <//>`;
}

function Waiting() {
  const may = useMayDecide();
  const read = useRead("/api/mcp/approvals", { state: "pending", limit: 100 });
  const found = read.data?.approvals ?? [];
  const mine = found.filter((each) => may(each));
  return html`<${Card} title="Approvals waiting" href=${link("approvals")} state=${read.data && (mine.length ? "bad" : found.length ? "warn" : "good")}>
    <${Reading} read=${read}>${() => html`<p class="figure">${found.length}${read.data.end_cursor ? "+" : ""}</p>
      ${found.length > 0 && html`<p>${mine.length ? `${mine.length} for you to decide` : "none for you to decide"}</p>`}
      <ul class="plain">${(mine.length ? mine : found).slice(-3).reverse().map((each) => html`<li><a href=${link(["approvals", each.agent_id, each.id])}><${ToolName} name=${each.tool} /></a> by <${Named} kind="agents" id=${each.agent_id} plain=${true} />, ${left(each.expires_at)}</li>`)}</ul>`}<//>
  <//>`;
}

function RefusedCalls({ since }) {
  const read = useRead("/api/mcp/calls", { decision: "refused", start_time: since, limit: 100 });
  const found = read.data?.calls ?? [];
  const count = found.reduce((sum, each) => sum + each.times, 0);
  return html`<${Card} title="Refused tool calls, last hour" href=${link("calls", { decision: "refused" })} state=${read.data && (count ? "warn" : "good")}>
    <${Reading} read=${read}>${() => html`<p class="figure">${number(count)}${read.data.end_cursor ? "+" : ""}</p>
      <ul class="plain">${found.slice(0, 3).map((each) => html`<li><a href=${link(["calls", each.id])}>${each.tool === null ? "unknown tool" : html`<${ToolName} name=${each.tool} />`}</a>${each.tool !== null && `: ${refusalOf(each)}`}</li>`)}</ul>`}<//>
  <//>`;
}

function Checkpoint() {
  const read = useRead("/api/audit/proofs/inclusion", { position: 1 });
  const size = read.data?.tree_size;
  return html`<${Card} title="Last checkpoint" href=${link("verify")} state=${read.data ? "good" : undefined}>
    ${read.error?.code === "no_checkpoint_yet" ? html`<p>None yet: the first is signed within seconds of the first event.</p>` : html`
    <${Reading} read=${read}>${() => html`<p class="figure">position ${number(size)}</p><p>Signed; check it yourself on the page Verify.</p>`}<//>`}
  <//>`;
}

function FailedSessions({ since }) {
  const read = useRead("/api/observability/session/list", { has_error: true, start_time: since, limit: 5 });
  const found = read.data?.sessions ?? [];
  return html`<${Card} title="Sessions with errors, last day" href=${link("sessions", { has_error: "true" })} state=${read.data && (found.length ? "warn" : "good")}>
    <${Reading} read=${read}>${() => found.length === 0 ? html`<p class="figure">0</p>` : html`<ul class="plain">${found.map((each) => html`<li><a href=${link(["sessions", each.session_id])}><${Time} at=${each.start_time} /></a> – ${plural(each.num_traces_with_error, "failed turn")}</li>`)}</ul>
      ${read.data.pagination.has_next_page && html`<p>and more</p>`}`}<//>
  <//>`;
}

function Offers() {
  const read = useRead("/api/mcp/connectors", { scope: "offered", limit: 10 });
  const found = read.data?.connectors ?? [];
  return html`<${Card} title="Connectors offered to you" href=${link("connectors", { scope: "offered" })} state=${read.data && (found.length ? "warn" : "good")}>
    <${Reading} read=${read}>${() => html`<p class="figure">${found.length}</p>
      <ul class="plain">${found.slice(0, 5).map((each) => html`<li><a href=${link(["connectors", each.id])}><bdi>${each.name}</bdi></a></li>`)}</ul>`}<//>
  <//>`;
}

export default function Overview() {
  const me = useMe();
  const [hour, day] = useMemo(() => [1, 24].map((hours) => new Date(Date.now() - hours * HOUR_MS).toISOString()), []);
  const service = useRead("/readyz", undefined, { minor: true });
  return html`<${Page} title="Overview" lead="What needs a hand comes first: a red or yellow edge means that somebody should look.">
    <div class="cards">
      <${Service} read=${service} />
      ${seesEverything(me) && html`<${Refusals} since=${hour} />`}
      <${Waiting} />
      <${RefusedCalls} since=${hour} />
      <${FailedSessions} since=${day} />
      <${Offers} />
      <${Today} />
      <${Checkpoint} />
    </div>
    ${!seesEverything(me) && html`<p class="not-offered">Refused changes of everybody: for superusers and auditors.</p>`}
  <//>`;
}
