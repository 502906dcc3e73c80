// Changing something: a button or form, its confirmation, and what came of it.
import { Failure, FieldErrors } from "./parts.js";
import { useUnsaved } from "./unsaved.js";
import { html, useEffect, useId, useRef, useState } from "./ui.js";

// Run a change; `run` returns the answer, or undefined when it was refused.
export function useAction(perform, after) {
  const [state, setState] = useState({ busy: false, error: null, message: null });
  const run = async (...given) => {
    setState({ busy: true, error: null, message: null });
    try {
      const answer = await perform(...given);
      setState({ busy: false, error: null, message: answer?.message ?? "done" });
      after?.(answer);
      return answer;
    } catch (error) {
      setState({ busy: false, error, message: null });
      return undefined;
    }
  };
  const forget = () => setState({ busy: false, error: null, message: null });
  return { ...state, run, forget };
}

export function Outcome({ action, retry }) {
  return html`${action.error && html`<${Failure} error=${action.error} retry=${retry} />`}
    <p role="status" class=${action.message ? "done" : "hidden"}>${action.message && `✓ ${action.message}`}</p>`;
}

// A dialog of the browser's own: it keeps the focus inside and gives it back. Without
// `onClose`, only the page closes it, and what is behind it can't be seen.
export function Dialog({ open, title, onClose, children }) {
  const holder = useRef(null);
  const id = useId();
  useEffect(() => {
    const dialog = holder.current;
    if (open && !dialog.open) dialog.showModal();
    if (!open && dialog.open) dialog.close();
  }, [open]);
  const reopen = () => open && holder.current.showModal();
  return html`<dialog ref=${holder} class=${onClose ? undefined : "firm"} aria-labelledby=${id} onClose=${onClose ?? reopen}>
    ${open && html`<h2 id=${id}>${title}</h2>${children}`}
  </dialog>`;
}

// A change that is made in a dialog, which closes when it has succeeded.
function useDialogAction(perform, after) {
  const [open, setOpen] = useState(false);
  const action = useAction(perform, (answer) => {
    setOpen(false);
    after?.(answer);
  });
  const close = () => {
    setOpen(false);
    action.forget();
  };
  return { action, open, show: () => setOpen(true), close };
}

// A button that asks first; its children say what will happen.
export function Confirmed({ label, title, confirm, danger = false, perform, after, children }) {
  const { action, open, show, close } = useDialogAction(perform, after);
  return html`<button type="button" class=${danger ? "danger" : "quiet"} onClick=${show}>${label}</button>
    <span role="status" class="meta">${!open && action.message && `✓ ${action.message}`}</span>
    <${Dialog} open=${open} title=${title} onClose=${close}>
      ${children}
      <${Failure} error=${action.error} />
      <p class="buttons"><button type="button" class=${danger ? "danger" : ""} disabled=${action.busy} onClick=${() => action.run()}>${action.busy ? "Working …" : confirm ?? label}</button>
        <button type="button" class="quiet" onClick=${close}>Cancel</button></p>
    <//>`;
}

const NONE = [];

// A form behind a button; `children` gets nothing and shows the fields. With
// `announces` false, the page says itself what was done.
export function FormDialog({ label, title, submit, perform, after, announces = true, children }) {
  const [isTyped, setTyped] = useState(false);
  const [corrected, setCorrected] = useState(NONE);
  const { action, open, show, close } = useDialogAction(perform, (answer) => {
    setTyped(false);
    after?.(answer);
  });
  useUnsaved(open && isTyped);
  const form = useRef(null);
  const { error } = action;
  const wrong = error?.errors?.filter((each) => !corrected.includes(each.path)) ?? NONE;
  useEffect(() => form.current?.querySelector("[aria-invalid]")?.focus(), [error]);
  // What a field says itself isn't said again.
  const others = error?.errors?.filter((each) => !form.current?.elements.namedItem(each.path));
  const send = (event) => {
    event.preventDefault();
    setCorrected(NONE);
    action.run();
  };
  const typed = (event) => {
    setTyped(true);
    if (event.target.name) setCorrected([...corrected, event.target.name]);
  };
  return html`<button type="button" class="quiet" onClick=${show}>${label}</button>
    ${announces && html`<span role="status" class="meta">${!open && action.message && `✓ ${action.message}`}</span>`}
    <${Dialog} open=${open} title=${title ?? label} onClose=${close}>
      <form class="stack" ref=${form} onSubmit=${send} onInput=${typed}><${FieldErrors.Provider} value=${wrong}>${children}<//>
        ${error && html`<${Failure} error=${{ ...error, message: error.message, errors: others }} />`}
        <p class="buttons"><button type="submit" disabled=${action.busy}>${action.busy ? "Working …" : submit ?? label}</button>
          <button type="button" class="quiet" onClick=${close}>Cancel</button></p></form>
    <//>`;
}
