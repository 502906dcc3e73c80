// Warnings about rules, with what was probably meant; `take` puts that into a draft.
import { html } from "./ui.js";

export const RuleWarnings = ({ warnings, take }) => warnings.map((each) => html`<p class="warning">${each.tool_pattern && html`<code>${each.tool_pattern}</code>: `}${each.message}
  ${take && each.suggestion && html` <button type="button" class="quiet" onClick=${() => take(each)}>Use ${each.suggestion}<span class="hidden"> instead of ${each.tool_pattern}</span></button>`}</p>`);
