// The effective decisions of an agent as a matrix, and its rules by connector.
import { Confirmed } from "./actions.js";
import { call } from "./api.js";
import { useExplanations } from "./explaining.js";
import { Named } from "./names.js";
import { Field, Stance, Table } from "./parts.js";
import { link, setQuery } from "./route.js";
import { html, useState } from "./ui.js";

const TOOLS_MAX = 12;
const CONNECTORS_MAX = 6;

// Names to try: each pattern with one character for each run that it leaves open.
const samples = (rules) => [...new Set(rules.map((rule) => rule.tool_pattern.replace(/[*?]/g, "x")))];

const connectorsOf = (rules) => [...new Set(rules.map((rule) => rule.connector_id))];

export function Matrix({ agent, rules, version, query }) {
  const [draft, setDraft] = useState(query.tools ?? "");
  const given = (query.tools ?? "").split(",").map((tool) => tool.trim()).filter(Boolean);
  const tools = (given.length ? given : samples(rules)).slice(0, TOOLS_MAX);
  const connectors = connectorsOf(rules).slice(0, CONNECTORS_MAX);
  const asked = tools.flatMap((tool) => connectors.map((connector) => ({ agent, connector, tool, version })));
  const found = useExplanations(asked);
  const columns = [
    { label: "Tool", cell: (row) => html`<code>${row.tool}</code>` },
    ...connectors.map((connector, index) => ({
      label: html`<${Named} kind="connectors" id=${connector} plain=${true} />`,
      cell: (row) => {
        const data = found[row.index * connectors.length + index];
        if (data === undefined) return "…";
        if (data.error) return html`<span class="none">not for you to see</span>`;
        return html`<a class="cell" href=${link("explain", { connector, tool: row.tool, agent })}><${Stance} stance=${data.stance} /></a>`;
      },
    })),
  ];
  const apply = (event) => {
    event.preventDefault();
    setQuery({ tools: draft });
  };
  return html`<h2>Effective decisions</h2>
    ${connectors.length > 0 && html`<form class="filters" onSubmit=${apply}><${Field} label="Tools to decide, separated by commas" value=${draft} onValue=${setDraft} placeholder="one for each pattern" /><span class="buttons"><button type="submit">Decide</button></span></form>`}
    <${Table} caption="Decisions now, by tool and connector" columns=${columns} rows=${connectors.length ? tools.map((tool, index) => ({ tool, index })) : []}
      rowKey=${(row) => row.tool} empty="The agent has no rules, so every tool is denied." />`;
}

const warningsOf = (warnings, connector) => warnings.filter((each) => each.connector_id === connector);

export function RuleTables({ agent, read, may, changed }) {
  const { rules, warnings = [], version } = read.data;
  const columns = [
    { label: "Pattern", sort: (rule) => rule.tool_pattern, cell: (rule) => html`<code>${rule.tool_pattern}</code>` },
    { label: "Stance", sort: (rule) => rule.stance, cell: (rule) => html`<${Stance} stance=${rule.stance} />` },
  ];
  if (rules.length === 0) return html`<p class="empty">No rules yet: every tool is denied.</p>`;
  return connectorsOf(rules).map((connector) => html`<section key=${connector}>
    <h3><${Named} kind="connectors" id=${connector} /></h3>
    ${warningsOf(warnings, connector).map((each) => html`<p class="warning">${each.tool_pattern && html`<code>${each.tool_pattern}</code>: `}${each.message}</p>`)}
    <${Table} caption=${html`Rules for <${Named} kind="connectors" id=${connector} plain=${true} />`} hideCaption=${true} columns=${columns} rows=${rules.filter((rule) => rule.connector_id === connector)} rowKey=${(rule) => rule.tool_pattern} empty="" />
    ${may && html`<p class="buttons"><${Confirmed} label="Remove these rules" title="Remove all rules for this connector?" danger=${true} after=${changed}
      perform=${() => call("DELETE", `/api/mcp/agents/${agent}/tools/connectors/${connector}`, { ifMatch: version })}>
      <p>Every tool of <${Named} kind="connectors" id=${connector} plain=${true} /> is denied from then on.</p><//></p>`}
  </section>`);
}
