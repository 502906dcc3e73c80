// Calls of the API, as the person who is signed in.

const HEADERS = { "X-Agent-Runtime-Console": "1" };
// How long reads wait for what this page has written, in whichever process.
const OWN_WRITE_MS = 30_000;
const listeners = new Set();
let underWay = 0;
let written = { position: null, at: 0 };
// Operations that change nothing, or that may be repeated: they take no Idempotency-Key.
const KEYLESS = /^\/console\/|\/preview$|\/observe$|\/prices\/imports\//;
// Keys of changes whose outcome isn't known, as { key, at } by a hash of what was asked
// for, which may be secret: trying the same again, also after closing its form, gets the
// answer that was lost. Later it is meant anew.
const keys = new Map();
const KEY_MS = 5 * 60_000;
// Answers that say nothing of an earlier try.
const UNDECIDED = [401, 429];

// A refusal of the service, or a request without an answer (status 0).
export class ApiError extends Error {
  constructor(status, message, data = {}) {
    super(message);
    this.status = status;
    this.code = data?.code ?? "no_answer";
    this.errors = data?.errors ?? [];
    this.requestId = data?.request_id ?? null;
    // Whether a change was made isn't known.
    this.isUndecided = status === 0 || status >= 500 || this.code === "unreadable" || UNDECIDED.includes(status);
    // The cookie isn't accepted: where that was so often, the service says so instead.
    this.isSignedOut = status === 401 || this.code === "too_many_refused_tokens";
  }
}

// Prices and costs have more digits than binary floating point: they stay text. Strings
// are matched whole, so that no number in one is found. A reviver takes ten times as long.
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+|[eE])[\d.eE+-]*/g;
const parsed = (text) => JSON.parse(text.replace(TOKEN, (token) => (token[0] === '"' || Number.isInteger(Number(token)) ? token : `"${token}"`)));

export function onChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const requestsUnderWay = () => underWay;

function count(change) {
  underWay += change;
  for (const listener of listeners) listener();
}

export function urlOf(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const text = new URLSearchParams(given).toString();
  return text ? `${path}?${text}` : path;
}

function headersOf({ body, ifMatch, minPosition, headers = {} }) {
  const sent = { ...HEADERS, ...headers };
  if (body !== undefined) sent["Content-Type"] = "application/json";
  if (ifMatch !== undefined && ifMatch !== null) sent["If-Match"] = `"${ifMatch}"`;
  if (minPosition) sent["X-Min-Position"] = String(minPosition);
  return sent;
}

// Send a request and return its response.
export async function send(method, path, options = {}) {
  const { query, body, signal } = options;
  count(1);
  try {
    const response = await fetch(urlOf(path, query), {
      method,
      headers: headersOf(options),
      body: body === undefined || typeof body === "string" ? body : JSON.stringify(body),
      signal,
      cache: "no-store",
      credentials: "same-origin",
    });
    return response;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "The service can't be reached");
  } finally {
    count(-1);
  }
}

// What a person has to see as it was written, such as the arguments of a call: numbers
// that JavaScript would round are kept for JSON.stringify.
export function asWritten(_key, value, context) {
  const rounded = typeof value === "number" && !Number.isSafeInteger(value);
  return rounded && context?.source && JSON.rawJSON ? JSON.rawJSON(context.source) : value;
}

const textOf = (response) => response.text().catch((error) => {
  throw error.name === "AbortError" ? error : new ApiError(0, "The answer was lost");
});

const TOO_LARGE_FOR_PROXY = "This is too large for the proxy before the service, which has to be told to take it (nginx: client_max_body_size)";

async function envelope(response, reviver) {
  const text = await textOf(response);
  try {
    return reviver ? JSON.parse(text, reviver) : parsed(text);
  } catch {
    const what = response.ok ? "answered something else than the service does" : "failed";
    if (response.status === 413) throw new ApiError(413, TOO_LARGE_FOR_PROXY, { code: "too_large" });
    throw new ApiError(response.status, `The service, or a proxy before it, ${what} (${response.status})`, { code: "unreadable" });
  }
}

// Return the error of an answer; it tells everybody if nobody is signed in.
function refusalOf(response, { data, message }) {
  const error = new ApiError(response.status, message, data);
  if (error.isSignedOut) dispatchEvent(new Event("signed-out"));
  return error;
}

const refusal = async (response) => refusalOf(response, await envelope(response));

const numbered = (header) => (header === null ? null : Number(header));

export const forgetKeys = () => keys.clear();

async function hashOf(method, path, { query, body, ifMatch }) {
  const asked = new TextEncoder().encode(JSON.stringify([method, urlOf(path, query), body, ifMatch]));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", asked)).join();
}

// Make a change with the key of an earlier try whose outcome isn't known, or a new one.
async function keyed(method, path, options) {
  const hash = await hashOf(method, path, options);
  const now = Date.now();
  const before = keys.get(hash);
  const key = before && now - before.at < KEY_MS ? before.key : crypto.randomUUID();
  keys.set(hash, { key, at: now });
  try {
    const answer = await answered(method, path, { ...options, headers: { ...options.headers, "Idempotency-Key": key } });
    keys.delete(hash);
    return answer;
  } catch (error) {
    if (error instanceof ApiError && !error.isUndecided) keys.delete(hash);
    throw error;
  }
}

// Return { data, message, status, position, version, readAt }; throws ApiError.
export function call(method, path, options = {}) {
  return (method === "GET" || KEYLESS.test(path) ? answered : keyed)(method, path, options);
}

async function answered(method, path, options) {
  if (method === "GET" && Date.now() - written.at < OWN_WRITE_MS) {
    options = { minPosition: written.position, ...options };
  }
  const response = await send(method, path, options);
  const { data, message } = await envelope(response, options.reviver);
  if (!response.ok) throw refusalOf(response, { data, message });
  const position = numbered(response.headers.get("X-Event-Position"));
  if (method !== "GET" && position) written = { position, at: Date.now() };
  const etag = response.headers.get("ETag");
  return {
    data,
    message,
    status: response.status,
    position,
    version: etag === null ? null : Number(/\d+/.exec(etag)),
    readAt: Date.now(),
  };
}

export const get = (path, query, options) => call("GET", path, { ...options, query });

// Return a text answer, such as a checkpoint.
export async function getText(path) {
  const response = await send("GET", path);
  if (!response.ok) throw await refusal(response);
  return textOf(response);
}

// Yield the server-sent events of a path as { id, data }, until the signal aborts.
export async function* stream(path, query, signal) {
  const response = await send("GET", path, { query, signal });
  if (!response.ok) throw await refusal(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const data = event.split("\n").find((line) => line.startsWith("data: "));
      if (data) yield parsed(data.slice(6));
    }
  }
}

// What a browser holds in memory without trouble.
const DOWNLOAD_BYTES_MAX = 300_000_000;

const BROKE_OFF = "The answer broke off, so nothing was saved";
const LAST_LINE_BYTES_MAX = 1024;

async function lastLine(blob) {
  const lines = (await blob.slice(-LAST_LINE_BYTES_MAX).text()).trimEnd().split("\n");
  return lines.at(-1);
}

// Save an answer as a file; it is held in memory until all of it is there.
export async function download(path, query, name, { signal, onBytes, isWhole } = {}) {
  const response = await send("GET", path, { query, signal });
  if (!response.ok) throw await refusal(response);
  const reader = response.body.getReader();
  const parts = [];
  let bytes = 0;
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      parts.push(value);
      bytes += value.length;
      onBytes?.(bytes);
      if (bytes > DOWNLOAD_BYTES_MAX) throw new ApiError(0, "This is too large for a browser; use the curl command");
    }
  } catch (error) {
    reader.cancel().catch(() => undefined);
    if (error instanceof ApiError || error.name === "AbortError") throw error;
    throw new ApiError(0, BROKE_OFF);
  }
  const blob = new Blob(parts, { type: response.headers.get("Content-Type") });
  if (isWhole && !isWhole(await lastLine(blob))) throw new ApiError(0, BROKE_OFF);
  saveAs(blob, name);
}

export function saveAs(blob, name) {
  const url = URL.createObjectURL(blob);
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

export function curlOf(path, query) {
  const quoted = (location.origin + urlOf(path, query)).replaceAll("'", "%27");
  return `curl -s -H "Authorization: Bearer $TOKEN" '${quoted}'`;
}
