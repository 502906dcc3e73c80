// The audit trail: who did what, as sentences, newest first.
// Shows: [the entries](#the-audit-trail) of everything that happened
// Does: follows live, exports
import { plural } from "../app/format.js";
import { ENTRIES_MAX, useLive } from "../app/live.js";
import { FOR_AUDITORS, has, seesEverything, useMe } from "../app/me.js";
import { options, useList } from "../app/names.js";
import { Failure, Filters, NotOffered, Page, Paging, Reading, Table } from "../app/parts.js";
import { useRead } from "../app/reads.js";
import { link } from "../app/route.js";
import { Sentence } from "../app/sentence.js";
import { WrongTimes, linkedTime } from "../app/time.js";
import { Export, filtersOf } from "../app/trail.js";
import { html, useState } from "../app/ui.js";

const COLUMNS = [
  { label: "Recorded", cell: (entry) => linkedTime(entry.recorded_at, link(["audit", entry.position])) },
  { label: "Who did what", wide: true, cell: (entry) => html`<${Sentence} entry=${entry} />` },
  { label: "Kind", cell: (entry) => html`<a href=${link("audit", { kind: entry.kind })}><code>${entry.kind}</code></a>` },
  { label: "Position", number: true, cell: (entry) => entry.position },
];

const LEAD = "Every change, and every read of this trail, one sentence each. A name leads to everything that it caused, an id to everything about it, a time to the whole entry.";

// Return why new entries can't be followed with these filters; undefined if they can.
function notLive(query) {
  if (query.order === "oldest") return "only with the newest entries first";
  if (query.after) return "only on the first page";
  if (query.request_id || query.from || query.until) return "only without times, positions and request ids among the filters";
  return undefined;
}

function Live({ on, setOn, live, reason }) {
  if (reason) return html`<${NotOffered} what="Following new entries" reason=${reason} />`;
  const said = live.error ? `not connected: ${live.error.message}` : live.waiting ? "connecting again …" : "following";
  const seen = live.entries.length;
  const label = on ? "❚❚ Pause" : seen ? "▶ Go on" : "▶ Follow live";
  return html`<p class="buttons live"><button type="button" aria-pressed=${on ? "true" : "false"} class=${on ? "" : "quiet"} onClick=${() => setOn(!on)}>${label}</button>
    <span role="status">${on ? `Live: ${said}` : seen ? "Paused: it goes on where it stopped" : ""}${seen > 0 && `, ${plural(seen, "new entry", "new entries")}`}</span></p>
    ${on && live.error && !live.waiting && html`<${Failure} error=${live.error} />`}`;
}

function Trail({ query }) {
  const users = useList("users");
  const [on, setOn] = useState(false);
  const { sent, wrong } = filtersOf(query);
  const reason = notLive(query);
  const read = useRead(wrong.length ? null : "/api/audit/events", { ...sent, order: query.order, limit: query.limit ?? "50", after: query.after });
  const following = on && !reason;
  const live = useLive({ actor: sent.actor, kind: sent.kind, resource: sent.resource }, read.position, following);
  const fields = [
    { name: "actor", label: "By user", choices: options(users) },
    { name: "kind", label: "Kind", placeholder: "connector.made_public" },
    { name: "resource", label: "About id", placeholder: "of anything" },
    { name: "from", label: "From", placeholder: "2026-05-31 14:00" },
    { name: "until", label: "Until", placeholder: "now" },
    { name: "request_id", label: "Request id" },
    { name: "order", label: "Order", choices: [{ value: "oldest", label: "oldest first" }], any: "newest first" },
    { name: "limit", label: "Rows", choices: ["25", "50", "100", "200"], any: null, fallback: "50" },
  ];
  const shown = () => [...live.entries.filter((entry) => entry.position > read.position), ...read.data.entries].slice(0, ENTRIES_MAX);
  return html`<${Page} title="Audit trail" lead=${LEAD}>
    <${Filters} fields=${fields} />
    <${WrongTimes} wrong=${wrong} />
    ${wrong.length === 0 && html`<${Live} on=${following} setOn=${setOn} live=${live} reason=${reason} />
    <${Reading} read=${read} what="Reading the trail">${() => html`
      <${Table} caption="Entries of the audit trail" hideCaption=${true} columns=${COLUMNS} rows=${shown()} rowKey=${(entry) => entry.position}
        empty="No entry matches. Kinds are as in connector.made_public, or connector for all of its kinds; the filters count together." />
      <${Paging} path="audit" shown=${shown().length} next=${read.data.end_cursor} />`}<//>
    <${Export} filters=${sent} />`}
  <//>`;
}

export default function Audit({ query }) {
  const me = useMe();
  if (!seesEverything(me)) {
    return html`<${Page} title="Audit trail"><${NotOffered} what="The audit trail" reason=${FOR_AUDITORS} />
      <p>Changes of an agent that you manage are on <a href=${link("agents")}>its page</a>${has(me, "proofs") && html`; whether the record is genuine, anybody can <a href=${link("verify")}>verify</a>`}.</p><//>`;
  }
  return html`<${Trail} query=${query} />`;
}
