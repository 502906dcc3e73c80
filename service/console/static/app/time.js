// Times, all in the one zone that the address names; without one, in UTC.
import { currentRoute } from "./route.js";
import { html } from "./ui.js";

const LOCAL = Intl.DateTimeFormat().resolvedOptions().timeZone;
const formats = new Map();

export const zones = () => [...new Set(["UTC", LOCAL, ...Intl.supportedValuesOf("timeZone")])];

export function zone() {
  const named = currentRoute().query.tz ?? "UTC";
  return isZone(named) ? named : "UTC";
}

function isZone(name) {
  try {
    format(name);
    return true;
  } catch {
    return false;
  }
}

// Swedish dates are ISO dates.
function format(timeZone) {
  if (!formats.has(timeZone)) {
    formats.set(timeZone, new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" }));
  }
  return formats.get(timeZone);
}

export const shown = (at) => format(zone()).format(new Date(at));

const exactly = (at) => `${at} (shown in ${zone()})`;

export function Time({ at }) {
  if (!at) return html`<span class="none">–</span>`;
  return html`<time datetime=${at} title=${exactly(at)}>${shown(at)}</time>`;
}
Time.isPlain = true;

// A time that leads to what was then.
export const linkedTime = (at, href) => html`<a href=${href} title=${exactly(at)}>${shown(at)}</a>`;

// A date, with a time or not; a time with an offset may have a fraction.
const FORM = /^(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d))?((?:\.\d+)? ?(?:Z|[+-]\d\d:?\d\d))?)?$/i;

// Read what a person types: a position, an ISO time with offset, or a date and time in
// the chosen zone. Returns what the API takes; undefined for nothing, null for neither.
export function parseMoment(text) {
  const given = (text ?? "").trim();
  if (!given || given.toLowerCase() === "now") return undefined;
  if (/^\d{1,18}$/.test(given)) return given;
  const found = FORM.exec(given);
  if (!found) return null;
  const parts = found.slice(1, 7).map((each) => Number(each ?? 0));
  if (!exists(parts)) return null;
  if (!found[7]) return inZone(parts);
  const absolute = new Date(given);
  return Number.isNaN(absolute.valueOf()) ? null : absolute.toISOString();
}

const utc = ([year, month, day, ...time]) => new Date(Date.UTC(year, month - 1, day, ...time));

// Date takes a day or an hour that doesn't exist for another one.
function exists(parts) {
  const made = utc(parts).toISOString().match(/\d+/g);
  return parts.every((part, index) => part === Number(made[index]));
}

function inZone(parts) {
  const wanted = utc(parts).valueOf();
  let guess = wanted;
  // Twice, since the offset may change between the guess and the answer.
  for (let step = 0; step < 2; step += 1) {
    guess += wanted - Date.parse(`${shown(guess).replace(" ", "T")}Z`);
  }
  return new Date(guess).toISOString();
}

export const isPosition = (moment) => /^\d+$/.test(moment ?? "");

// Return { sent, wrong }: the times that a query has under `names`, and what is no time.
export function momentsOf(query, names, positions = true) {
  const sent = {};
  const wrong = [];
  for (const name of names) {
    const moment = parseMoment(query[name]);
    if (moment === null || (isPosition(moment) && !positions)) wrong.push(query[name]);
    else sent[name] = moment;
  }
  return { sent, wrong };
}

// The window of a query's `from` and `until`, which are no positions.
export function windowOf(query) {
  const { sent, wrong } = momentsOf(query, ["from", "until"], false);
  return { sent: { start_time: sent.from, end_time: sent.until }, wrong };
}

export const WrongTimes = ({ wrong }) =>
  wrong.map((text) => html`<p class="warning" role="alert">“<bdi>${text}</bdi>” is no time: write 2026-05-31, or 2026-05-31 14:00.</p>`);

// Read the time that a form asks for; undefined for nothing. Throws an Error: a typing
// mistake never means "now", nor "forever".
export function timeOf(text) {
  const moment = parseMoment(text);
  if (moment === null || isPosition(moment)) throw new Error(`“${text}” is no time: write 2026-05-31, or 2026-05-31 14:00`);
  return moment;
}

// How long until a time, in words.
export function left(at, now = Date.now()) {
  const seconds = Math.round((Date.parse(at) - now) / 1000);
  if (seconds <= 0) return "over";
  if (seconds < 120) return `${seconds} s left`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min left` : `${Math.round(seconds / 3600)} h left`;
}

export const ago = (ms) => {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s ago`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min ago`;
  return `${Math.round(seconds / 3600)} h ago`;
};

export function duration(ms) {
  const value = Number(ms);
  if (ms === null || ms === undefined) return "–";
  if (value < 1000) return `${Math.round(value)} ms`;
  if (value < 60_000) return `${(value / 1000).toFixed(1)} s`;
  if (value < 3_600_000) return `${Math.floor(value / 60_000)} min ${Math.round((value % 60_000) / 1000)} s`;
  return `${(value / 3_600_000).toFixed(1)} h`;
}
