// Whether a connector's tools can be listed, why not, and which of them agents don't see.
import { Outcome, useAction } from "./actions.js";
import { call } from "./api.js";
import { plural } from "./format.js";
import { Badge, Facts, Failure, NotOffered, Reading } from "./parts.js";
import { useRead } from "./reads.js";
import { link } from "./route.js";
import { Time } from "./time.js";
import { html, useEffect } from "./ui.js";
import { Visible } from "./visible.js";

const STATES = {
  ok: ["allow", "✓ listed"],
  failing: ["deny", "✕ can't be listed"],
  unobserved: ["plain", "– not observed yet"],
};

export const HEALTH_CHOICES = Object.entries(STATES).map(([value, [, label]]) => ({ value, label: label.slice(2) }));

// An observation of a new connector takes seconds.
const EVERY_MS = 2000;

export function HealthBadge({ state }) {
  const [kind, label] = STATES[state] ?? ["plain", state];
  return html`<${Badge} kind=${kind}>${label}<//>`;
}

function LeftOut({ left_out: { count, names } }) {
  const others = count - names.length;
  return html`${names.map((name, number) => html`${number > 0 && ", "}<code><${Visible} text=${name} /></code>`)}${others > 0 && `${names.length > 0 ? " and " : ""}${plural(others, "other")}`}`;
}

// Tools that agents don't see, or not as their server defines them.
function Hidden({ id }) {
  const read = useRead(`/api/mcp/connectors/${id}/definitions`, undefined, { minor: true });
  if (read.error) return html`<${Failure} error=${read.error} retry=${read.refresh} />`;
  const tools = read.data?.tools.filter((tool) => tool.reason || tool.left_out.length > 0) ?? [];
  return tools.length > 0 && html`<h3>Tools that agents don't see as their server defines them</h3>
    <ul class="plain">${tools.map((tool) => html`<li key=${tool.tool}><code><${Visible} text=${tool.tool} /></code>
      ${tool.reason
        ? html` <${Badge} kind="deny">✕ unacceptable<//> <${Visible} text=${tool.reason} />`
        : html` without ${tool.left_out.map((each, number) => html`${number > 0 && "; "}<${Visible} text=${each} />`)}`}</li>`)}</ul>`;
}

function ObserveNow({ id, after }) {
  const action = useAction(() => call("POST", `/api/mcp/connectors/${id}/observe`), after);
  return html`<p class="buttons"><button type="button" class="quiet" disabled=${action.busy} onClick=${() => action.run()}>${action.busy ? "Observing …" : "Observe now"}</button></p>
    <${Outcome} action=${action} />`;
}

export function Health({ connector, may }) {
  const read = useRead(`/api/mcp/connectors/${connector.id}/health`);
  const isAwaited = read.data?.state === "unobserved";
  const isOver = read.error?.isSignedOut;
  useEffect(() => {
    if (!isAwaited || read.loading || isOver) return undefined;
    const timer = setTimeout(read.refresh, EVERY_MS);
    return () => clearTimeout(timer);
  }, [isAwaited, read.loading, isOver]);
  const returned = connector.credential && read.data?.credential_returned;
  return html`<h2>Tools</h2>
    <${Reading} read=${read} what="Reading the connector's health">${() => html`
      ${returned && html`<p class="warning">${plural(returned.count, "answer")} of its server had the credential in it, the last one <${Time} at=${returned.last_at} />: ${returned.message}.</p>`}
      <p class=${read.data.state === "failing" ? "failure" : ""}><${HealthBadge} state=${read.data.state} /> ${read.data.message}.</p>
      <${Facts} facts=${[
        ["Last attempt", read.data.attempted_at ? html`<${Time} at=${read.data.attempted_at} />` : undefined],
        ["Failing since", read.data.failing_since ? html`<${Time} at=${read.data.failing_since} />, ${plural(read.data.failures, "attempt")}` : undefined],
        ["Last success", read.data.succeeded_at ? html`<${Time} at=${read.data.succeeded_at} />, with ${plural(read.data.tools, "tool")}` : "none at this URL"],
        ["Next attempt", read.data.next_at ? html`<${Time} at=${read.data.next_at} />` : undefined],
        ["Left out", read.data.left_out ? html`<${LeftOut} left_out=${read.data.left_out} />` : undefined],
        ["Definitions", html`<a href=${link(["definitions", connector.id])}>as accepted and as listed now</a>`],
      ]} />
      ${read.data.tools > 0 && html`<${Hidden} key=${read.data.attempted_at} id=${connector.id} />`}`}<//>
    ${may ? html`<${ObserveNow} id=${connector.id} after=${read.refresh} />` : html`<${NotOffered} what="Observing its tools now" reason="for its owner and superusers" />`}`;
}
