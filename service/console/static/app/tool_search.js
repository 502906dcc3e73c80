// From how many tools on an agent is listed two that search them, instead of all.
import { FormDialog } from "./actions.js";
import { call } from "./api.js";
import { Field, NotOffered, Reading } from "./parts.js";
import { useRead } from "./reads.js";
import { html, useState } from "./ui.js";

function Change({ path, settings, changed }) {
  const [max, setMax] = useState(String(settings.tools_listed_max ?? ""));
  const perform = () => call("PUT", path, { body: { tools_listed_max: max.trim() === "" ? null : Number(max) }, ifMatch: settings.version });
  return html`<${FormDialog} label="Tool search" submit="Save" perform=${perform} after=${changed}>
    <${Field} label="Tools listed at most" name="tools_listed_max" type="number" min="0" value=${max} onValue=${setMax} placeholder="all" help="An agent that may call more tools is listed two instead: one finds tools by words, one calls what was found, by the same rules. Empty: all are always listed." />
  <//>`;
}

export function ToolSearch({ agent, may, changed }) {
  const path = `/api/mcp/agents/${agent.id}/gateway`;
  const read = useRead(path);
  const saved = () => {
    read.refresh();
    changed();
  };
  return html`<h2>List of tools</h2>
    <${Reading} read=${read} what="Reading the gateway's settings">${() => html`
      <p>${read.data.tools_listed_max === null ? "All tools are listed to the agent." : `Where the agent may call more than ${read.data.tools_listed_max} tools, it is listed two, which search them and call what was found.`}</p>
      ${may ? html`<p class="buttons"><${Change} key=${read.data.version} path=${path} settings=${read.data} changed=${saved} /></p>` : html`<${NotOffered} what="Changing that" reason=${agent.state === "active" ? "for its managers and superusers" : "the agent is retired"} />`}`}<//>`;
}
