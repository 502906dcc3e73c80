// Decisions with their reasons: asking for several at once, and showing one.
import { get } from "./api.js";
import { has, useMe } from "./me.js";
import { Named } from "./names.js";
import { Reading, Stance, Table } from "./parts.js";
import { PageReads, useSignIns } from "./reads.js";
import { link } from "./route.js";
import { Time } from "./time.js";
import { html, useContext, useEffect, useState } from "./ui.js";

const AT_ONCE = 6;

// Ask for the decision of each { agent, connector, tool, at }; returns them as they come,
// in the same order: undefined while under way, { error } where refused.
export function useExplanations(asked) {
  const [found, setFound] = useState([]);
  const [turn, setTurn] = useState(0);
  const reads = useContext(PageReads);
  const signIns = useSignIns();
  const key = JSON.stringify(asked);
  useEffect(() => {
    const controller = new AbortController();
    const answers = new Array(asked.length).fill(undefined);
    const refresh = () => setTurn(turn + 1);
    let next = 0;
    setFound([...answers]);
    const work = async () => {
      while (next < asked.length && !controller.signal.aborted) {
        const index = next;
        next += 1;
        const { agent, connector, tool, at } = asked[index];
        const read = { path: `/api/mcp/agents/${agent}/tools/explain`, query: { connector_id: connector, tool, at }, refresh };
        let answer;
        try {
          answer = await get(read.path, read.query, { signal: controller.signal });
          answers[index] = answer.data;
        } catch (error) {
          answers[index] = { error };
        }
        if (controller.signal.aborted) return;
        if (answer) reads.report(asked[index], { ...read, ...answer });
        setFound([...answers]);
      }
    };
    for (let worker = 0; worker < AT_ONCE; worker += 1) work();
    return () => {
      controller.abort();
      asked.forEach((each) => reads.forget(each));
    };
  }, [key, turn, signIns]);
  return found;
}

const REASONS = {
  rule: "a rule decides",
  no_rule_matches: "no rule matches, so it is denied",
  connector_not_granted: "the agent doesn't hold the connector, so it is denied",
  no_connector: "there was no such connector at that time, so it is denied",
  agent_retired: "the agent is retired, so everything is denied",
  new_definition: "the tool is new and not accepted: under a wildcard, allow counts as ask",
  definition_changed: "the tool's definition has changed and isn't accepted, so it is denied",
  no_such_tool: "the connector lists no such tool, so it is denied",
};

export const reasonOf = (data) => REASONS[data.reason] ?? data.reason;

// Who caused something and when, with the way to its proof.
export function Cause({ event }) {
  const hasProofs = has(useMe(), "proofs");
  if (!event) return html`<span class="none">never changed</span>`;
  return html`<span>${event.actor === "system" ? "the service" : html`<${Named} kind="users" id=${event.actor} plain=${true} />`}, <${Time} at=${event.recorded_at} />${" "}
    (${hasProofs ? html`<a href=${link("verify", { position: event.position })}>verify position ${event.position}</a>` : `position ${event.position}`})</span>`;
}

const RULES = [
  { label: "Pattern", cell: (rule) => html`<code>${rule.tool_pattern}</code>` },
  { label: "Stance", cell: (rule) => html`<${Stance} stance=${rule.stance} />` },
  { label: "Matches", cell: (rule) => (rule.decisive ? html`<strong>● decides</strong>` : rule.matched ? "○ matches" : "– no") },
  { label: "Set by", wide: true, cell: (rule) => html`<${Cause} event=${rule.since} />` },
];

// One decision in full; `title` names the time.
export const Decision = ({ title, read }) =>
  html`<section class="decision"><h2>${title}</h2><${Reading} read=${read} what="Reading the decision">${() => html`<${Decided} data=${read.data} />`}<//></section>`;

// Rules match a tool's own name, not its alias in an agent's list.
export const Behind = ({ data }) => data.explained_tool !== data.tool && html`<p role="status"><code>${data.tool}</code> is an alias: agents call the tool <code>${data.explained_tool}</code> by it, which this explains.</p>`;

function Decided({ data }) {
  const hasGateway = has(useMe(), "gateway");
  return html`<p class="figure"><${Stance} stance=${data.stance} /></p>
    <${Behind} data=${data} />
    <p>Why: ${reasonOf(data)}. ${data.stance_since ? html`Last changed by <${Cause} event=${data.stance_since} />.` : data.looked_back_to > 0 && `The same at least since position ${data.looked_back_to}: older changes are too many to look at.`}</p>
    <p>${data.granted ? html`The agent holds the connector. Granted by <${Cause} event=${data.granted_since} />.` : "The agent doesn't hold the connector."}</p>
    ${data.definition && html`<p>The tool's definition is ${hasGateway ? html`<a href=${link(["definitions", data.connector_id])}>${data.definition}</a>` : data.definition}.</p>`}
    <${Table} caption="Rules for this connector" columns=${RULES} rows=${data.rules} rowKey=${(rule) => rule.tool_pattern} empty="The agent has no rules for this connector." />`;
}
