// A connector's tools as they were accepted, and what has changed since.
// Page: Definitions, from a connector
// Shows: its tools as the server lists them, and what has changed; characters that
// can't be seen are marked
// Does: accepts by digest
import { Confirmed } from "../app/actions.js";
import { asWritten, call } from "../app/api.js";
import { plural } from "../app/format.js";
import { isSuperuser, useMe } from "../app/me.js";
import { Badge, Filters, NotOffered, Page, Reading } from "../app/parts.js";
import { useRead } from "../app/reads.js";
import { link } from "../app/route.js";
import { html } from "../app/ui.js";
import { Differences, Visible, asText } from "../app/visible.js";

// In the order of what needs a hand.
const STANDINGS = {
  changed: ["deny", "✕ changed", "Agents don't see it, and calls are refused, until the change is accepted."],
  new: ["ask", "? new", "Agents may call it where a rule names it exactly; under a wildcard, allow counts as ask."],
  unacceptable: ["deny", "✕ unacceptable", "Agents never see it."],
  gone: ["plain", "– gone", "The server doesn't list it any more; agents don't see it."],
  accepted: ["allow", "✓ accepted", "Agents call it as their rules say."],
};
const ORDER = Object.keys(STANDINGS);
const CHOICES = ORDER.map((value) => ({ value, label: STANDINGS[value][1].slice(2) }));
const LEAD = "The gateway keeps what the connector's server says of each tool. What is new or has changed counts once the owner accepts it.";

const acceptable = (tool) => tool.standing === "new" || tool.standing === "changed";

function Accept({ label, tools, connector, version, after }) {
  const definitions = Object.fromEntries(tools.map((tool) => [tool.tool, tool.digest]));
  return html`<${Confirmed} label=${label} title="Accept ${plural(tools.length, "definition")}?" confirm="Accept" after=${after}
    perform=${() => call("POST", `/api/mcp/connectors/${connector}/definitions/accept`, { body: { definitions }, ifMatch: version })}>
    <p>From then on, agents call ${tools.length === 1 ? "it" : "them"} as defined now, as far as their rules say. Models read these texts: look for instructions that a tool has no need of.</p>
    <ul class="plain scrolling" tabindex="0" role="list" aria-label="Definitions">${tools.map((tool) => html`<li key=${tool.tool}><code><${Visible} text=${tool.tool} /></code> <small class="hash">${tool.digest.slice(0, 12)}…</small></li>`)}</ul><//>`;
}

function Tool({ tool, may, connector, version, after }) {
  const [kind, label, meaning] = STANDINGS[tool.standing] ?? ["plain", tool.standing, ""];
  return html`<li class="turn ${tool.standing === "changed" || tool.standing === "unacceptable" ? "bad" : ""}">
    <h2><${Visible} text=${tool.tool} /> <${Badge} kind=${kind}>${label}<//></h2>
    <p class="meta">${meaning}${tool.reason && html` <${Visible} text=${tool.reason} />.`}</p>
    ${tool.left_out.length > 0 && html`<p class="meta">Agents see it otherwise than its server lists it: ${tool.left_out.map((each, number) => html`${number > 0 && "; "}<${Visible} text=${each} />`)}.</p>`}
    ${tool.definition?.description && html`<p class="value"><${Visible} text=${asText(tool.definition.description)} /></p>`}
    ${tool.standing === "changed" && (tool.accepted_digest ? html`<${Differences} tool=${tool.tool} differences=${tool.differences} />` : html`<p class="meta">No definition of it was accepted yet, and it isn't as it was first seen.</p>`)}
    ${tool.definition && html`<details><summary>Definition <span class="hidden">of <${Visible} text=${tool.tool} /></span></summary><pre tabindex="0"><${Visible} text=${asText(tool.definition)} /></pre>
      <p class="meta">SHA-256 <span class="hash">${tool.digest}</span></p></details>`}
    ${may && acceptable(tool) && html`<p class="buttons"><${Accept} label="Accept" tools=${[tool]} connector=${connector} version=${version} after=${after} /></p>`}
  </li>`;
}

function Tools({ data, version, query, may, after }) {
  const counts = ORDER.map((standing) => [standing, data.tools.filter((tool) => tool.standing === standing).length]).filter(([, count]) => count > 0);
  const found = data.tools.filter((tool) => !query.standing || tool.standing === query.standing)
    .sort((one, other) => ORDER.indexOf(one.standing) - ORDER.indexOf(other.standing));
  const waiting = data.tools.filter(acceptable);
  if (data.tools.length === 0) return html`<p class="empty">No tool of it was observed yet. <a href=${link(["connectors", data.connector_id])}>The connector's page</a> says why.</p>`;
  return html`<p role="status">${counts.map(([standing, count]) => `${count} ${standing}`).join(", ")}</p>
    ${may ? waiting.length > 1 && html`<p class="buttons"><${Accept} label="Accept all ${waiting.length} that are new or changed" tools=${waiting} connector=${data.connector_id} version=${version} after=${after} /></p>`
      : html`<${NotOffered} what="Accepting definitions" reason="for the connector's owner and superusers" />`}
    ${found.length === 0 && html`<p class="empty">No tool is ${query.standing}.</p>`}
    <ol class="turns">${found.map((tool) => html`<${Tool} key=${tool.tool} tool=${tool} may=${may} connector=${data.connector_id} version=${version} after=${after} />`)}</ol>`;
}

function OfConnector({ id, query }) {
  const me = useMe();
  const connector = useRead(`/api/mcp/connectors/${id}`, undefined, { minor: true });
  const read = useRead(`/api/mcp/connectors/${id}/definitions`, undefined, { reviver: asWritten });
  const may = isSuperuser(me) || connector.data?.owner_id === me.id;
  const name = connector.data?.name;
  return html`<${Page} title=${name ? `Definitions of ${name}` : "Definitions"} lead=${LEAD}>
    <p><a href=${link(["connectors", id])}>The connector</a></p>
    <${Filters} fields=${[{ name: "standing", label: "Standing", choices: CHOICES }]} />
    <${Reading} read=${read} what="Reading definitions">${() => html`<${Tools} data=${read.data} version=${read.version} query=${query} may=${may} after=${read.refresh} />`}<//>
  <//>`;
}

export default function Definitions({ id, query }) {
  if (!id) return html`<${Page} title="Definitions" lead=${LEAD}><p>Each <a href=${link("connectors")}>connector</a> leads to those of its tools.</p><//>`;
  return html`<${OfConnector} id=${id} query=${query} />`;
}
