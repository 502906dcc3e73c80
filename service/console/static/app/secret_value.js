// The input of a secret's value: hidden while it is typed, or a file of several lines.
import { Field } from "./parts.js";
import { html, useId } from "./ui.js";

export function SecretValue({ label, value, onValue }) {
  const id = useId();
  const read = async (event) => {
    const [file] = event.target.files;
    if (file) onValue(await file.text());
  };
  return html`<${Field} label=${label} name="value" value=${value} onValue=${onValue} type="password" required=${true} help="At most 64 KiB. It is encrypted, and never shown in the console again." />
    <div class="field"><label for=${id}>… or from a file, for several lines</label><input id=${id} type="file" onChange=${read} /></div>`;
}
