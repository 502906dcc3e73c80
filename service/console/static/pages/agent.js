// One agent: who manages it, what it may call, and changing its rules.
import { Confirmed, FormDialog } from "../app/actions.js";
import { call } from "../app/api.js";
import { Matrix, RestoreRules, RuleTables } from "../app/decisions.js";
import { forgetNames, useList } from "../app/names.js";
import { Badge, Facts, Field, NotOffered, Page, Reading } from "../app/parts.js";
import { People } from "../app/people.js";
import { useRead } from "../app/reads.js";
import { link } from "../app/route.js";
import { RuleEditor } from "../app/rule_editor.js";
import { has, isSuperuser, seesEverything, useMe } from "../app/me.js";
import { Time } from "../app/time.js";
import { AgentTokens } from "../app/tokens.js";
import { ToolSearch } from "../app/tool_search.js";
import { html, useState } from "../app/ui.js";

function Edit({ agent, changed }) {
  const [name, setName] = useState(agent.name);
  const [description, setDescription] = useState(agent.description);
  const perform = () => call("PUT", `/api/catalog/agents/${agent.id}`, { body: { name: name.trim(), description }, ifMatch: agent.version });
  return html`<${FormDialog} label="Edit" title="Edit the agent" submit="Save" perform=${perform} after=${changed}>
    <${Field} label="Name" name="name" value=${name} onValue=${setName} required=${true} maxlength="128" />
    <${Field} label="Description" name="description" value=${description} onValue=${setDescription} lines=${3} />
  <//>`;
}

function Actions({ agent, changed }) {
  return html`<p class="buttons"><${Edit} key=${agent.version} agent=${agent} changed=${changed} />
    <${Confirmed} label="Retire" title="Retire this agent for good?" confirm="Retire it for good" danger=${true} after=${changed}
      perform=${() => call("DELETE", `/api/catalog/agents/${agent.id}`, { ifMatch: agent.version })}>
      <p>All of its tools are denied from then on, and its rules and grants can't be changed. This can't be undone; its history stays.</p><//></p>`;
}

export default function Agent({ id, query }) {
  const me = useMe();
  const hasGateway = has(me, "gateway");
  const read = useRead(`/api/catalog/agents/${id}`);
  const rules = useRead(`/api/mcp/agents/${id}/tools`);
  const agent = read.data;
  const manages = agent && (isSuperuser(me) || agent.manager_ids.includes(me.id));
  const active = agent?.state === "active";
  const connectors = useList("connectors");
  const mayEdit = manages || connectors.some((each) => each.owner_id === me.id);
  const [renamed, setRenamed] = useState([]);
  const changed = (answer) => {
    setRenamed((answer?.data?.warnings ?? []).filter((each) => each.code === "names_change"));
    forgetNames();
    read.refresh();
    rules.refresh();
  };
  return html`<${Page} title=${agent ? `Agent ${agent.name}` : "Agent"} lead=${html`<code>${id}</code>`}>
    <${Reading} read=${read} what="Reading the agent">${() => html`
      <${Facts} facts=${[
        ["State", html`<${Badge} kind=${active ? "allow" : "plain"}>${agent.state}<//>`],
        ["Registered", html`<${Time} at=${agent.created_at} />`],
        ["Last change", html`<${Time} at=${agent.updated_at} />`],
        ["Description", agent.description || undefined],
        ["Calls", hasGateway ? html`<a href=${link("calls", { agent_id: id })}>of this agent</a>` : undefined],
        ["Sessions", html`<a href=${link("sessions", { agent_id: id })}>of this agent</a>`],
        ["Usage", html`<a href=${link("usage", { agent_id: id, by: "model" })}>by model</a>`],
        ["History", seesEverything(me) ? html`<a href=${link("audit", { resource: id })}>in the audit trail</a>` : undefined],
      ]} />
      ${manages && active ? html`<${Actions} agent=${agent} changed=${changed} />` : html`<${NotOffered} what="Changing this agent" reason=${active ? "for its managers and superusers" : "it is retired"} />`}
      <div class="columns">
        <${People} agent=${agent} kind="managers" ids=${agent.manager_ids} may=${manages && active} changed=${changed} />
        <${People} agent=${agent} kind="readers" ids=${agent.reader_ids} may=${manages && active} changed=${changed} />
      </div>`}<//>
    <${Reading} read=${rules} what="Reading the rules">${() => html`
      <${Matrix} agent=${id} rules=${rules.data.rules} version=${rules.data.version} query=${query} />
      <h2>Rules</h2>
      <p class="meta">Deny overrides ask, and ask overrides allow. Tools that no rule matches are denied.</p>
      <${RuleTables} agent=${id} read=${rules} renamed=${renamed} may=${manages && active} changed=${changed} />
      ${active && (mayEdit
        ? html`<${RuleEditor} agent=${id} rules=${rules.data.rules} version=${rules.data.version} saved=${changed} />`
        : html`<${NotOffered} what="Editing rules" reason="for its managers, superusers, and owners of its connectors" />`)}
      ${manages && active && html`<${RestoreRules} agent=${id} version=${rules.data.version} restored=${changed} />`}`}<//>
    ${hasGateway && agent && html`<${ToolSearch} agent=${agent} may=${manages && active} changed=${changed} />`}
    ${hasGateway && agent && html`<${AgentTokens} agent=${id} may=${manages} active=${active} />`}
  <//>`;
}
