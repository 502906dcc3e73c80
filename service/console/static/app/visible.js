// Text with the characters that can't be seen, or turn the text around them, made
// visible; and how two texts differ, by words.
import { Table } from "./parts.js";
import { html } from "./ui.js";

// Controls, formats such as direction marks, unassigned and private ones, separators.
const HIDDEN = /([\p{C}\p{Zl}\p{Zp}\u00a0\u2000-\u200a\u115f\u1160\u3164\uffa0\u2800]|\p{Default_Ignorable_Code_Point})/u;
const ORDINARY = new Set(["\n", "\t"]);

const codeOf = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

export function Visible({ text }) {
  const parts = text.split(new RegExp(HIDDEN, "gu")).filter((part) => part !== undefined && part !== "");
  return html`<bdi>${parts.map((part) => (HIDDEN.test(part) && !ORDINARY.has(part) ? html`<mark title="a character that can't be seen">${codeOf(part)}</mark>` : part))}</bdi>`;
}

// A JSON value as text, and a text as itself.
export const asText = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

const WORDS = /(\s+|[^\p{L}\p{N}_])/u;
// The most for the table of common words: longer texts are shown as replaced.
const CELLS_MAX = 400_000;

// Return { before, after }: pieces of the texts as [text, differs].
export function byWords(before, after) {
  const [one, other] = [before, after].map((text) => text.split(WORDS).filter(Boolean));
  if (one.length * other.length > CELLS_MAX) return { before: [[before, true]], after: [[after, true]] };
  const width = other.length + 1;
  const common = new Uint32Array((one.length + 1) * width);
  for (let i = one.length - 1; i >= 0; i -= 1) {
    for (let j = other.length - 1; j >= 0; j -= 1) {
      common[i * width + j] = one[i] === other[j] ? common[(i + 1) * width + j + 1] + 1 : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  const found = { before: [], after: [] };
  let [i, j] = [0, 0];
  while (i < one.length || j < other.length) {
    if (i < one.length && j < other.length && one[i] === other[j]) {
      add(found.before, one[i], false);
      add(found.after, other[j], false);
      i += 1;
      j += 1;
    } else if (j >= other.length || (i < one.length && common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      add(found.before, one[i], true);
      i += 1;
    } else {
      add(found.after, other[j], true);
      j += 1;
    }
  }
  return found;
}

function add(pieces, text, differs) {
  if (pieces.at(-1)?.[1] === differs) pieces.at(-1)[0] += text;
  else pieces.push([text, differs]);
}

const MISSING = html`<span class="none">not there</span>`;

function Side({ value, pieces, tag }) {
  if (value === null) return MISSING;
  return html`<span class="value">${pieces.map(([text, differs]) => (differs ? html`<${tag}><${Visible} text=${text} /><//>` : html`<${Visible} text=${text} />`))}</span>`;
}

function sides(row) {
  const [before, after] = [row.before, row.after].map((value) => (value === null ? "" : asText(value)));
  return byWords(before, after);
}

const COLUMNS = [
  { label: "Where", cell: (row) => html`<code><${Visible} text=${row.path || "everything"} /></code>` },
  { label: "Accepted", wide: true, cell: (row) => html`<${Side} value=${row.before} pieces=${row.words.before} tag="del" />` },
  { label: "Now", wide: true, cell: (row) => html`<${Side} value=${row.after} pieces=${row.words.after} tag="ins" />` },
];

// The differences of a tool's definition from the accepted one.
export function Differences({ tool, differences }) {
  const rows = differences.map((each) => ({ ...each, words: sides(each) }));
  return html`<${Table} caption=${html`What has changed in <${Visible} text=${tool} />`} columns=${COLUMNS} rows=${rows} rowKey=${(row) => row.path} empty="Nothing but what agents don't see has changed." />`;
}
