// The effective decisions of an agent as a matrix, and its rules by connector.
import { Confirmed } from "./actions.js";
import { call, get } from "./api.js";
import { useExplanations } from "./explaining.js";
import { has, useMe } from "./me.js";
import { Named, OF_CONNECTOR } from "./names.js";
import { Field, RULE, Reading, Stance, Table, ruleKey } from "./parts.js";
import { useRead, useSignIns } from "./reads.js";
import { link, setQuery } from "./route.js";
import { RuleWarnings } from "./rule_warnings.js";
import { WrongTimes, isPosition, momentsOf } from "./time.js";
import { html, useEffect, useState } from "./ui.js";

const TOOLS_MAX = 12;
const CONNECTORS_MAX = 6;

// The names of each connector's tools that were observed, once they are known; null for
// one whose definitions can't be read.
function useObserved(connectors) {
  const [found, setFound] = useState({ of: null });
  const key = connectors.join();
  const signIns = useSignIns();
  useEffect(() => {
    let current = true;
    const asked = connectors.map((connector) => get(`/api/mcp/connectors/${connector}/definitions`).then((answer) => answer.data.tools.map((tool) => tool.tool), () => null));
    Promise.all(asked).then((names) => current && setFound({ of: key, names: new Map(connectors.map((connector, index) => [connector, names[index]])) }));
    return () => {
      current = false;
    };
  }, [key, signIns]);
  return found.of === key ? found.names : null;
}

const connectorsOf = (rules) => [...new Set(rules.map((rule) => rule.connector_id))];

export function Matrix({ agent, rules, version, query }) {
  const [draft, setDraft] = useState(query.tools ?? "");
  const given = (query.tools ?? "").split(",").map((tool) => tool.trim()).filter(Boolean);
  const connectors = connectorsOf(rules).slice(0, CONNECTORS_MAX);
  // Without the gateway nobody observes tools: it is for a person to name them.
  const hasGateway = has(useMe(), "gateway");
  const observed = useObserved(hasGateway ? connectors : []);
  const known = [...new Set([...(observed?.values() ?? [])].flatMap((names) => names ?? []))];
  const tools = (given.length ? given : known).slice(0, TOOLS_MAX);
  // Names that a person gives may be aliases, or of tools that weren't observed yet.
  const asked = tools.flatMap((tool) => connectors.filter((connector) => given.length || (observed?.get(connector)?.includes(tool) ?? true))
    .map((connector) => ({ agent, connector, tool, version })));
  const found = useExplanations(asked);
  const columns = [
    { label: "Tool", cell: (row) => html`<code>${row.tool}</code>` },
    ...connectors.map((connector) => ({
      label: html`<${Named} kind="connectors" id=${connector} plain=${true} />`,
      cell: (row) => {
        const place = asked.findIndex((each) => each.connector === connector && each.tool === row.tool);
        const data = found[place];
        if (place < 0 || data?.reason === "no_such_tool") return html`<span class="none">– not listed</span>`;
        if (data === undefined) return "…";
        if (data.error) return html`<span class="none">not for you to see</span>`;
        return html`<a class="cell" href=${link("explain", { connector, tool: row.tool, agent })}><${Stance} stance=${data.stance} /></a>`;
      },
    })),
  ];
  const isUnread = connectors.some((connector) => observed?.get(connector) === null);
  const empty = !hasGateway ? "The tools of connectors aren't observed here; name some to decide on them." : isUnread ? "The tools of these connectors couldn't be read; name some to decide on them." : "No tools of these connectors were observed yet; name some to decide on them.";
  const apply = (event) => {
    event.preventDefault();
    setQuery({ tools: draft });
  };
  return html`<h2>Effective decisions</h2>
    ${connectors.length > 0 && html`<form class="filters" onSubmit=${apply}><${Field} label="Tools to decide, separated by commas" value=${draft} onValue=${setDraft} placeholder=${hasGateway ? "all known ones" : "issues.create"} /><span class="buttons"><button type="submit">Decide</button></span></form>`}
    <${Table} caption="Decisions now, by tool and connector" columns=${columns} rows=${connectors.length ? tools.map((tool) => ({ tool })) : []}
      rowKey=${(row) => row.tool} empty=${connectors.length ? (observed ? empty : "…") : "The agent has no rules, so every tool is denied."} />`;
}

const warningsOf = (warnings, connector) => warnings.filter((each) => each.connector_id === connector);

// `renamed` are the warnings about names of tools that the last change gave.
export function RuleTables({ agent, read, renamed, may, changed }) {
  const { rules, warnings = [], version } = read.data;
  if (rules.length === 0) return html`<p class="empty">No rules yet: every tool is denied.</p>`;
  // Connectors may share a name; the captions tell their tables apart.
  const connectors = connectorsOf(rules);
  const place = (index) => (connectors.length > 1 ? `, connector ${index + 1} of ${connectors.length}` : "");
  return connectors.map((connector, index) => html`<section key=${connector}>
    <h3><${Named} kind="connectors" id=${connector} /></h3>
    <${RuleWarnings} warnings=${warningsOf([...warnings, ...renamed], connector)} />
    <${Table} caption=${html`Rules for <${Named} kind="connectors" id=${connector} plain=${true} />${place(index)}`} hideCaption=${true} columns=${RULE} rows=${rules.filter((rule) => rule.connector_id === connector)} rowKey=${(rule) => rule.tool_pattern} empty="" />
    ${may && html`<p class="buttons"><${Confirmed} label="Remove these rules" title="Remove all rules for this connector?" danger=${true} after=${changed}
      perform=${() => call("DELETE", `/api/mcp/agents/${agent}/tools/connectors/${connector}`, { ifMatch: version })}>
      <p>Every tool of <${Named} kind="connectors" id=${connector} plain=${true} /> is denied from then on.</p><//></p>`}
  </section>`);
}

// Restoring an agent's rules as of a moment.
export function RestoreRules({ agent, version, restored }) {
  const [text, setText] = useState("");
  const [given, setGiven] = useState({});
  const look = (event) => {
    event.preventDefault();
    setGiven({ at: text });
  };
  const { sent, wrong } = momentsOf(given, ["at"]);
  const at = sent.at ?? null;
  const read = useRead(at === null ? null : `/api/mcp/agents/${agent}/tools`, { at }, { minor: true });
  const body = { at: isPosition(at) ? Number(at) : at };
  return html`<details><summary>Restore earlier rules</summary>
    <form class="filters" onSubmit=${look}><${Field} label="Rules as of" value=${text} onValue=${setText} required=${true} placeholder="a time or a position" /><span class="buttons"><button type="submit">Show them</button></span></form>
    <${WrongTimes} wrong=${wrong} />
    ${at !== null && html`<${Reading} read=${read} what="Reading the rules then">${() => html`
      <${Table} caption="Rules then" columns=${[OF_CONNECTOR, ...RULE]} rows=${read.data.rules} rowKey=${ruleKey} empty="There were no rules: every tool was denied." />
      <p class="buttons"><${Confirmed} label="Restore these rules" title="Restore the rules of that time?" after=${restored}
        perform=${() => call("POST", `/api/mcp/agents/${agent}/tools/restore`, { body, ifMatch: version })}>
        <p>All rules of the agent are replaced by those of that time, as a new change; nothing is removed from the history.</p><//></p>`}<//>`}
  </details>`;
}
