// The parts that every page is made of: frame, failure, table, filters, paging.
import { curlOf } from "./api.js";
import { LISTED_MAX, PageReads } from "./reads.js";
import { PageRoute, link, setQuery } from "./route.js";
import { ago } from "./time.js";
import { createContext, h, html, useContext, useEffect, useId, useState } from "./ui.js";

export function Copy({ label, text }) {
  const [said, setSaid] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      setSaid("copied");
    } catch {
      setSaid("the browser refused");
    }
    setTimeout(() => setSaid(""), 3000);
  };
  return html`<button type="button" class="quiet" onClick=${copy}>${label}<span role="status">${said && ` – ${said}`}</span></button>`;
}

// How recent the page is: the oldest of its reads.
function AsOf({ reads }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const readAt = Math.min(...reads.map((read) => read.readAt));
  const positions = reads.map((read) => read.position).filter((position) => position !== null);
  const position = positions.length ? `as of position ${Math.min(...positions)}, ` : "";
  return html`<span class="as-of">${position}${ago(now - readAt)}</span>`;
}

// A page: its heading, how recent it is, and ways to repeat it elsewhere.
export function Page({ title, lead, children, actions }) {
  const shown = useContext(PageReads).useAll();
  useEffect(() => {
    document.title = `${title} – Agent Runtime`;
  }, [title]);
  return html`<div class="head">
      <h1 tabindex="-1" >${title}</h1>
      <p class="tools">
        ${shown.length > 0 && html`<${AsOf} reads=${shown} />
        <button type="button" class="quiet" onClick=${() => shown.forEach((read) => read.refresh())}>Refresh</button>
        <${Copy} label="Copy as curl" text=${() => shown.map((read) => curlOf(read.path, read.query)).join("\n")} />`}
        <${Copy} label="Copy link" text=${() => location.href} />
      </p>
    </div>
    ${lead && html`<p class="lead">${lead}</p>`}
    ${actions}
    ${children}`;
}

const FAILED = "Try again in a moment; you can submit the form again unchanged. If it keeps failing, tell the operator of the service.";
const ADVICE = {
  0: "Check that the service runs, then try again.",
  401: "Sign in, then try again.",
  403: "Your roles don't allow this. A superuser can grant you another role.",
  404: "It doesn't exist, or you may not see it: both look the same.",
  412: "It has changed since you read it. Refresh, and look at it again.",
  429: "Wait a moment, then try again.",
  503: "Nothing was lost. Try again in a moment.",
};

export function Failure({ error, retry, advised = true }) {
  if (!error) return null;
  return html`<div class="failure" role="alert">
    <p><strong>${error.status === 403 ? "Not allowed" : error.status === 404 ? "Not found" : "This failed"}:</strong> ${error.message.replace(/\.$/, "")}.</p>
    ${error.errors?.length > 0 && html`<ul>${error.errors.map((each) => html`<li><code>${each.path}</code> ${each.message}</li>`)}</ul>`}
    <p>${advised && (ADVICE[error.status] ?? (error.status >= 500 || error.code === "unreadable" ? FAILED : ""))} ${error.requestId && html`<small>Request <code>${error.requestId}</code></small>`}</p>
    ${retry && html`<button type="button" onClick=${retry}>Try again</button>`}
  </div>`;
}

const GONE = [403, 404];

// What a read shows while it has no data: work, slowness, or its failure.
export function Reading({ read, what = "Reading", children }) {
  const failure = read.error && html`<${Failure} error=${read.error} retry=${read.refresh} />`;
  // What was read before stays, for something may be typed in it; not what is gone.
  if (read.error && (read.data === undefined || GONE.includes(read.error.status))) return failure;
  if (read.data === undefined) {
    return html`<p class="working" role="status">${what}${read.slow ? " – this takes longer than usual" : ""} …</p>`;
  }
  return html`<div aria-busy=${read.loading ? "true" : "false"}>${failure}${children()}</div>`;
}

function order(rows, column, direction) {
  const value = (row) => {
    const found = column.sort(row);
    return found === null || found === undefined ? "" : found;
  };
  return [...rows].sort((one, other) => {
    const [a, b] = [value(one), value(other)];
    const compared = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
    return direction * compared;
  });
}

const LOOKS = ["fixed", "number", "lines", "wide", "rest"];
const classOf = (column, looks = LOOKS) => looks.filter((look) => column[look]).join(" ") || undefined;

// A text given as a property is one node less for Preact: a table has hundreds.
const cell = (content, className) =>
  typeof content === "string" ? h("td", { class: className, textContent: content }) : h("td", { class: className }, content);

// Lines break before a plus, and after a comma or colon: an amount keeps its currency.
function inLines(text) {
  const parts = String(text).split(/ (?=\+ )|(?<=[,:]) /);
  return parts.length === 1 ? parts[0] : parts.map((part, index) => html`${index > 0 && " "}<span class="part">${part}</span>`);
}

const shownIn = (column, row) => (column.lines ? inLines(column.cell(row)) : column.cell(row));
const rowOf = (row, columns, classes, key) => h("tr", { key }, columns.map((column, place) => cell(shownIn(column, row), classes[place])));

// A table with a caption; columns with `sort` sort the rows that are shown. `wide` ones
// break their lines, texts of `lines` between their parts; one with `rest` has one line, cut
// off where there is no room for it. `fixed` ones, the first, stay when others scroll.
// `foot` are sums, which stay below.
export function Table({ caption, columns, rows, foot = [], empty, rowKey = (row) => row.id, hideCaption = false }) {
  const [sorted, setSorted] = useState(null);
  const id = useId();
  const shown = sorted ? order(rows, columns[sorted.index], sorted.direction) : rows;
  const classes = columns.map((column) => classOf(column));
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  const sortBy = (index) =>
    setSorted((before) => (before?.index === index ? { index, direction: -before.direction } : { index, direction: 1 }));
  return html`<div class="scroll" role="region" aria-labelledby=${id} tabindex="0">
    <table>
      <caption id=${id} class=${hideCaption ? "hidden" : ""}>${caption}</caption>
      <thead><tr>${columns.map((column, index) => html`<th scope="col" class=${classOf(column, ["fixed", "number"])}
        aria-sort=${sorted?.index === index ? (sorted.direction > 0 ? "ascending" : "descending") : undefined}>
        ${column.sort
          ? html`<button type="button" class="sort" onClick=${() => sortBy(index)}>${column.label}<span aria-hidden="true">${sorted?.index === index ? (sorted.direction > 0 ? "\u00a0↑" : "\u00a0↓") : "\u00a0↕"}</span></button>`
          : column.label}</th>`)}</tr></thead>
      <tbody>${shown.map((row, index) => rowOf(row, columns, classes, rowKey(row, index)))}</tbody>
      ${foot.length > 0 && html`<tfoot>${foot.map((row) => rowOf(row, columns, classes))}</tfoot>`}
    </table>
  </div>`;
}

// Fields whose values stand in the address; applying them begins at the first page.
export function Filters({ fields }) {
  const { query } = useContext(PageRoute);
  const [draft, setDraft] = useState(query);
  useEffect(() => setDraft(query), [JSON.stringify(query)]);
  const names = fields.map((field) => field.name);
  const active = names.some((name) => query[name]);
  const apply = (event) => {
    event.preventDefault();
    setQuery({ ...Object.fromEntries(names.map((name) => [name, draft[name]])), after: "", cursors: "", offset: "" });
  };
  const clear = () => setQuery({ ...Object.fromEntries(names.map((name) => [name, ""])), after: "", offset: "" });
  return html`<form class="filters" role="search" aria-label="Filters" onSubmit=${apply}>
    ${fields.map((field) => html`<${Field} ...${field} value=${draft[field.name] ?? field.fallback ?? ""} onValue=${(value) => setDraft({ ...draft, [field.name]: value })} />`)}
    <span class="buttons"><button type="submit">Apply</button>
    ${active && html`<button type="button" class="quiet" onClick=${clear}>Clear filters</button>`}</span>
  </form>`;
}

// What the service said is wrong in the form around, each { path, message }.
export const FieldErrors = createContext([]);

// A labelled input: of text, a choice among `choices`, or several lines. A list may have
// ended before the choice that is wanted: then its id can be typed, too. Errors whose
// path is its name are shown at it.
export function Field({ label, name, value, onValue, choices, any = "any", lines, type = "text", help, fallback: _fallback, ...rest }) {
  const id = useId();
  const wrong = useContext(FieldErrors).filter((each) => name && each.path === name);
  const isTyped = choices?.length >= LISTED_MAX;
  const hint = isTyped ? `One of these ${LISTED_MAX}, or ${choices[0].value ? "the id of another" : "another"}.` : help;
  const described = [wrong.length > 0 && `${id}-wrong`, hint && `${id}-help`].filter(Boolean).join(" ");
  const common = { id, name, value, "aria-describedby": described || undefined, "aria-invalid": wrong.length > 0 ? "true" : undefined, ...rest };
  const input = choices && !isTyped
    ? html`<select ...${common} onChange=${(event) => onValue(event.target.value)}>
        ${any !== null && html`<option value="">${any}</option>`}
        ${choices.map((choice) => html`<option value=${choice.value ?? choice} selected=${(choice.value ?? choice) === value}>${choice.label ?? choice}</option>`)}
      </select>`
    : lines
      ? html`<textarea ...${common} rows=${lines} onInput=${(event) => onValue(event.target.value)} />`
      : html`<input ...${common} type=${type} list=${isTyped ? `${id}-list` : undefined} onInput=${(event) => onValue(event.target.value)} autocomplete="off" spellcheck=${false} />
        ${isTyped && html`<datalist id="${id}-list">${choices.map((choice) => html`<option value=${choice.value}>${choice.label}</option>`)}</datalist>`}`;
  return html`<div class="field"><label for=${id}>${label}</label>${input}
    ${wrong.length > 0 && html`<small id="${id}-wrong" class="wrong">✕ ${wrong.map((each) => each.message).join("; ")}</small>`}${hint && html`<small id="${id}-help">${hint}</small>`}</div>`;
}

// Colours are never alone: what they say stands in words, too.
const STATES = { bad: "needs a hand", warn: "worth a look", unknown: "not all looked at" };

// Where the cards of a page say how they are: called with a title and { href, state }.
export const CardStates = createContext(null);

// The state of a card from its read: what can't be read needs a hand, too.
export const cardState = (read, state) => (read.error ? "bad" : read.data && state);

export function Card({ title, href, state, children }) {
  const tell = useContext(CardStates);
  useEffect(() => {
    tell?.(title, { href, state });
  }, [tell, title, href, state]);
  return html`<section class="card ${state ?? ""}">${STATES[state] && html`<p class="state">${STATES[state]}</p>`}<h2>${href ? html`<a href=${href}>${title}</a>` : title}</h2>${children}</section>`;
}

// Links to the first and the next page of a list with cursors.
export function Paging({ path, next, shown }) {
  const { query } = useContext(PageRoute);
  return html`<nav class="paging" aria-label="Pages">
    <span role="status">${shown} shown</span>
    ${query.after && html`<a href=${link(path, { ...query, after: "" })}>First page</a>`}
    ${next && html`<a href=${link(path, { ...query, after: next })}>Next page</a>`}
  </nav>`;
}

// The name of a state, with a shape beside its colour.
export function Badge({ kind, children }) {
  return html`<span class="badge ${kind}">${children}</span>`;
}
Badge.isPlain = true;

const STANCES = { allow: "✓ allow", ask: "? ask", deny: "✕ deny" };
export const Stance = ({ stance }) => html`<${Badge} kind=${stance}>${STANCES[stance] ?? stance}<//>`;
Stance.isPlain = true;

// What a rule is for, within an agent.
export const ruleKey = (rule) => `${rule.connector_id} ${rule.tool_pattern}`;

// Columns of a table of tool rules.
export const RULE = [
  { label: "Pattern", sort: (rule) => rule.tool_pattern, cell: (rule) => html`<code>${rule.tool_pattern}</code>` },
  { label: "Stance", sort: (rule) => rule.stance, cell: (rule) => html`<${Stance} stance=${rule.stance} />` },
];

// Facts about one thing, as terms with their values.
export function Facts({ facts }) {
  const given = facts.filter(([, value]) => value !== undefined);
  return html`<dl class="facts">${given.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value ?? html`<span class="none">–</span>`}</dd></div>`)}</dl>`;
}

export const NotOffered = ({ what, reason }) => html`<p class="not-offered">${what}: ${reason}.</p>`;

const ORDINARY = /^[ -~\u00a1-\u02af\u2010-\u2026]*$/;

// Text that somebody else has chosen, so that it can't turn what stands around it. Latin
// text can't: an element for its direction would cost more than all else in a cell.
export const isolated = (text) => (ORDINARY.test(text) ? text : html`<bdi>${text}</bdi>`);

export function Cut({ text, length = 80 }) {
  if (!text) return html`<span class="none">–</span>`;
  if (text.length <= length) return isolated(text);
  return html`<bdi title=${text.slice(0, 2000)}>${text.slice(0, length)}…</bdi>`;
}
Cut.isPlain = true;
