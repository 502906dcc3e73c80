// Connectors that need a hand: definitions that wait to be accepted, and calls that fail.
import { get } from "./api.js";
import { OUTCOME_CHOICES, REFUSALS } from "./calls.js";
import { number } from "./format.js";
import { isSuperuser, useMe } from "./me.js";
import { Named, listed } from "./names.js";
import { Card, Failure, Reading, cardState } from "./parts.js";
import { useRead } from "./reads.js";
import { link } from "./route.js";
import { html, useEffect, useState } from "./ui.js";

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

export function Definitions({ refused }) {
  const me = useMe();
  const [state, setState] = useState({});
  const { readAt } = refused;
  useEffect(() => {
    if (!refused.data) return undefined;
    let current = true;
    waitingDefinitions(me, refused.data.calls).then((data) => current && setState({ data }), (error) => current && setState({ error }));
    return () => {
      current = false;
    };
  }, [me.id, readAt]);
  const { found = [], looked, all } = state.data ?? {};
  const total = found.flatMap((each) => each.counts).reduce((sum, [, count]) => sum + count, 0);
  const isBad = found.some((each) => each.counts.some(([standing]) => standing === "changed"));
  return html`<${Card} title="Tool definitions to accept" href=${link("connectors")} state=${cardState(state, isBad ? "bad" : total ? "warn" : "good")}>
    ${state.error ? html`<${Failure} error=${state.error} />` : !state.data ? html`<p class="working" role="status">Reading …</p>`
      : all === 0 ? html`<p>None: you own no connector.</p>`
      : html`<p class="figure">${total}</p>
      <ul class="plain">${found.slice(0, SHOWN).map(({ id, counts }) => html`<li><a href=${link(["definitions", id])}><${Named} kind="connectors" id=${id} plain=${true} /></a>: ${counts.map(([standing, count]) => `${count} ${standing}`).join(", ")}</li>`)}</ul>
      ${found.length > SHOWN && html`<p>and more</p>`}
      ${looked < all && html`<p>Of the first ${looked} connectors of ${all}.</p>`}`}
  <//>`;
}

// Outcomes and refusals whose cause is the connector, not the agent.
const OUTCOMES = ["upstream_error", "timeout", "not_sent"];
const CAUSES = ["circuit_open", "credential_missing"];

function byConnector(calls) {
  const found = new Map();
  for (const each of calls) {
    const cause = each.decision === "refused" ? CAUSES.includes(each.reason) && REFUSALS[each.reason] : OUTCOME_CHOICES.find(({ value }) => value === each.outcome)?.label;
    if (!cause || !each.connector_id) continue;
    const causes = found.get(each.connector_id) ?? new Map();
    causes.set(cause, (causes.get(cause) ?? 0) + (each.times ?? 1));
    found.set(each.connector_id, causes);
  }
  return [...found];
}

// Connectors whose calls failed in the last hour, and why.
export function FailingConnectors({ since, refused }) {
  const reads = OUTCOMES.map((outcome) => useRead("/api/mcp/calls", { outcome, start_time: since, limit: 100 }));
  const all = [refused, ...reads];
  const read = all.find((each) => each.error) ?? all.find((each) => !each.data) ?? refused;
  const found = all.every((each) => each.data) ? byConnector(all.flatMap((each) => each.data.calls)) : [];
  return html`<${Card} title="Failing connectors, last hour" href=${link("calls", { outcome: "upstream_error" })} state=${cardState(read, found.length ? "bad" : "good")}>
    <${Reading} read=${read}>${() => html`<p class="figure">${found.length}</p>
      <ul class="plain">${found.slice(0, SHOWN).map(([id, causes]) => html`<li><a href=${link("calls", { connector_id: id })}><${Named} kind="connectors" id=${id} plain=${true} /></a>: ${[...causes].map(([cause, count]) => `${cause}${count > 1 ? ` (${number(count)})` : ""}`).join(", ")}</li>`)}</ul>`}<//>
  <//>`;
}
