// Show /openapi.json as a page, and call the API from it.
// Everything from the document or an answer becomes text nodes, never markup.

const METHODS = ["get", "post", "put", "patch", "delete"];
const SHOWN_CHARACTERS_MAX = 200000;
const SCHEMA_LEVELS_OPEN = 1;
// Texts have this pattern unless they have a narrower one; it says nothing worth showing.
const ANY_TEXT = "^[^\\x00]*$";

let api = {};
const byId = (id) => document.getElementById(id);

// --- building elements ------------------------------------------------------

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(attribute, "");
    else if (value !== false && value != null) made.setAttribute(attribute, value);
  }
  made.append(...children.flat().filter((child) => child != null && child !== ""));
  return made;
}

// The little Markdown that descriptions use: paragraphs, **strong**, `code`.
function prose(text) {
  return (text || "").trim().split(/\n\s*\n/).filter(Boolean)
    .map((paragraph) => element("p", {}, inline(paragraph.replace(/\s*\n\s*/g, " "))));
}

function inline(text) {
  return text.split(/(\*\*.+?\*\*|``.+?``|`.+?`)/).map((part) => {
    if (part.startsWith("**")) return element("strong", {}, part.slice(2, -2));
    if (part.startsWith("`")) return element("code", {}, part.replace(/^`+|`+$/g, ""));
    return part;
  });
}

// --- JSON as text -----------------------------------------------------------

// Indents without parsing, so that every digit stays as it was sent.
function codeBlock(text) {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) || [];
  const code = element("code");
  let depth = 0;
  const newLine = () => "\n" + "  ".repeat(depth);
  tokens.forEach((token, index) => {
    const opened = "[{".includes(tokens[index - 1] ?? " ");
    if (token === "{" || token === "[") {
      depth += 1;
      code.append(token, "]}".includes(tokens[index + 1] ?? " ") ? "" : newLine());
    } else if (token === "}" || token === "]") {
      depth -= 1;
      code.append(opened ? "" : newLine(), token);
    } else if (token === ",") code.append(token, newLine());
    else if (token === ":") code.append(": ");
    else code.append(element("span", { class: kindOf(token, tokens[index + 1]) }, token));
  });
  return element("pre", { tabindex: 0 }, code);
}

function kindOf(token, next) {
  if (token.startsWith('"')) return next === ":" ? "key" : "text";
  return /^-?\d/.test(token) ? "number" : "word";
}

const isJson = (type) => /\bjson\b/.test(type || "");

// --- schemas ----------------------------------------------------------------

function resolve(thing) {
  let found = thing || {};
  while (found.$ref) {
    found = found.$ref.slice(2).split("/").reduce((part, key) => part[key], api);
  }
  return found;
}

const nameOf = (schema) => schema?.$ref?.split("/").pop();

function typeOf(schema) {
  const named = resolve(schema);
  const choices = schema.anyOf || schema.oneOf;
  if (choices) return [...new Set(choices.map(typeOf))].join(" or ");
  if (named.const !== undefined) return JSON.stringify(named.const);
  if (named.enum) return named.enum.map((each) => JSON.stringify(each)).join(" | ");
  if (named.type === "array") return "array of " + typeOf(named.items || {});
  if (named.type === "object") return nameOf(schema) || "object";
  const type = [].concat(named.type || "any").join(" or ");
  return named.format ? `${type} (${named.format})` : type;
}

function limitsOf(schema) {
  const named = resolve(schema);
  const words = [];
  const range = (low, high, unit) => {
    if (low != null && high != null) words.push(`${low} to ${high}${unit}`);
    else if (low != null) words.push(`at least ${low}${unit}`);
    else if (high != null) words.push(`at most ${high}${unit}`);
  };
  range(named.minimum, Number.isSafeInteger(named.maximum) ? named.maximum : null, "");
  range(named.minLength, named.maxLength, " characters");
  range(named.minItems, named.maxItems, " items");
  if (named.default !== undefined) words.push("default " + JSON.stringify(named.default));
  if (named.pattern && named.pattern !== ANY_TEXT) words.push(named.pattern);
  return words;
}

// The object schema inside a schema, or undefined: of a choice, the first that has one.
function objectIn(schema) {
  const named = resolve(schema);
  if (named.properties) return named;
  if (named.type === "array") return objectIn(named.items);
  if (typeof named.additionalProperties === "object") return objectIn(named.additionalProperties);
  return (named.anyOf || named.oneOf || []).map(objectIn).find(Boolean);
}

function schemaTree(schema, level = 0, above = []) {
  const object = objectIn(schema);
  if (!object) {
    return element("p", { class: "type" }, [typeOf(schema), ...limitsOf(schema)].join(", "));
  }
  return element("ul", { class: "schema" },
    Object.entries(object.properties).map(([name, inner]) => {
      const line = [
        element("code", { class: "name" }, name),
        element("span", { class: "type" }, typeOf(inner)),
        (object.required || []).includes(name) ? "" : element("span", { class: "optional" }, "optional"),
        ...limitsOf(inner).map((words) => element("span", { class: "limit" }, words)),
      ];
      const words = inner.description || resolve(inner).description;
      const description = words ? element("p", {}, inline(words)) : "";
      const below = objectIn(inner);
      if (!below || above.includes(below)) return element("li", {}, line, description);
      return element("li", {}, element("details", { open: level < SCHEMA_LEVELS_OPEN },
        element("summary", {}, line), description,
        schemaTree(inner, level + 1, [...above, object])));
    }));
}

// --- one operation ----------------------------------------------------------

function section(title, ...children) {
  return element("section", { class: "part" }, element("h4", {}, title), ...children);
}

function operationCard(operation) {
  const { id, method, path } = operation;
  const summary = element("summary", {},
    element("span", { class: `method ${method}` }, method.toUpperCase()),
    element("code", { class: "path" }, path),
    element("span", { class: "words" }, inline(operation.summary || "")));
  const card = element("details", { class: "operation", id }, summary);
  // Built when first opened: most never are.
  card.addEventListener("toggle", () => {
    if (card.open && card.children.length === 1) card.append(operationBody(operation));
  });
  return card;
}

function operationBody(operation) {
  const form = tryIt(operation);
  return element("div", { class: "body" },
    element("div", { class: "reading" },
      prose(operation.description),
      operation.security?.length === 0 ? element("p", { class: "note" }, "Needs no token.") : "",
      parametersOf(operation.parameters.filter((each) => each.in !== "header")),
      requestOf(operation),
      answersOf(operation),
      headersOf(operation)),
    form);
}

function parametersOf(parameters) {
  return parameters.length ? section("Parameters", parameterTable(parameters)) : "";
}

function headersOf(operation) {
  const headers = operation.parameters.filter((each) => each.in === "header");
  if (!headers.length) return "";
  return element("section", { class: "part" }, element("details", { class: "taken" },
    element("summary", {}, element("h4", {}, "Headers it takes")), parameterTable(headers)));
}

function parameterTable(parameters) {
  const rows = parameters.map((parameter) => element("tr", {},
    element("th", { scope: "row" }, element("code", {}, parameter.name),
      parameter.required ? element("span", { class: "required" }, "required") : ""),
    element("td", {}, element("span", { class: "where" }, parameter.in)),
    element("td", {}, element("span", { class: "type" }, typeOf(parameter.schema)),
      limitsOf(parameter.schema).map((words) => element("span", { class: "limit" }, words)),
      parameter.description ? element("p", {}, inline(parameter.description)) : "")));
  return element("div", { class: "scroll" }, element("table", {},
    element("thead", { class: "hidden" }, element("tr", {}, ["Name", "In", "Meaning"].map(
      (title) => element("th", { scope: "col" }, title)))),
    element("tbody", {}, rows)));
}

function requestOf(operation) {
  if (!operation.requestBody) return "";
  return Object.entries(operation.requestBody.content).map(([type, content]) =>
    section("Body", element("p", { class: "note" }, type), schemaTree(content.schema),
      content.example === undefined ? "" : codeBlock(JSON.stringify(content.example))));
}

function answersOf(operation) {
  const answers = Object.entries(operation.responses).map(([status, reference]) => {
    const answer = resolve(reference);
    const [type, content] = Object.entries(answer.content || {})[0] || [];
    const own = !reference.$ref;
    return element("details", { class: "answer", open: own && status < 300 },
      element("summary", {},
        element("span", { class: `status s${status[0]}` }, status),
        element("span", {}, answer.description)),
      element("p", { class: "note" }, Object.keys(answer.headers || {}).join(", ")),
      content && !isJson(type) ? element("p", { class: "note" }, type) : "",
      content && own ? schemaTree(content.schema) : "",
      content?.example === undefined ? "" : codeBlock(
        isJson(type) ? JSON.stringify(content.example) : content.example));
  });
  return section("Answers", answers);
}

// --- trying it --------------------------------------------------------------

function tryIt(operation) {
  const inputs = [];
  const field = (parameter) => {
    const id = `${operation.id}-${parameter.in}-${parameter.name}`;
    const input = parameterInput(parameter, id);
    inputs.push([parameter, input]);
    return element("div", { class: "field" },
      element("label", { for: id }, parameter.name,
        parameter.required ? element("span", { class: "required" }, "required") : ""),
      input);
  };
  const common = operation.parameters.filter((each) => each.in !== "header");
  const headers = operation.parameters.filter((each) => each.in === "header");
  const bodyType = Object.keys(operation.requestBody?.content || {})[0];
  const body = bodyType && bodyInput(operation, bodyType);
  const curl = element("pre", { class: "curl", tabindex: 0, "aria-label": "The same with curl" });
  const output = element("div", { class: "output", "aria-live": "polite" });
  const stop = element("button", { type: "button", class: "quiet", hidden: true }, "Stop");
  const form = element("form", { class: "try" },
    element("h4", {}, "Try it"),
    common.map(field),
    headers.length
      ? element("details", { class: "headers" }, element("summary", {}, "Headers"), headers.map(field))
      : "",
    body ? element("div", { class: "field" },
      element("label", { for: body.id }, "Body"), body) : "",
    element("div", { class: "buttons" }, element("button", { type: "submit" }, "Send"), stop),
    curl, output);
  const request = () => requestFrom(operation, inputs, body?.value, bodyType);
  const refresh = () => { curl.textContent = asCurl(request()); };
  form.addEventListener("input", refresh);
  byId("token").addEventListener("input", refresh);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(request(), output, stop);
  });
  refresh();
  return form;
}

function parameterInput(parameter, id) {
  const schema = resolve(parameter.schema);
  if (schema.enum || schema.type === "boolean") {
    const values = schema.enum || [true, false];
    return element("select", { id }, parameter.required ? "" : element("option", { value: "" }, ""),
      values.map((value) => element("option", { value }, String(value))));
  }
  const example = parameter.example ?? "";
  return element("input", {
    id, required: parameter.required, spellcheck: "false", autocomplete: "off",
    value: parameter.required ? example : null,
    placeholder: schema.default ?? (example || typeOf(schema)),
  });
}

function bodyInput(operation, type) {
  const { example } = operation.requestBody.content[type];
  const text = example === undefined ? "" : JSON.stringify(example, null, 2);
  const rows = Math.min(16, Math.max(4, text.split("\n").length));
  return element("textarea", { id: `${operation.id}-body`, rows, spellcheck: "false" }, text);
}

function requestFrom(operation, inputs, body, bodyType) {
  let path = operation.path;
  const query = new URLSearchParams();
  const headers = {};
  for (const [parameter, input] of inputs) {
    const value = input.value.trim();
    if (parameter.in === "path") {
      path = path.replace(`{${parameter.name}}`, value ? encodeURIComponent(value) : `{${parameter.name}}`);
    } else if (value && parameter.in === "query") query.append(parameter.name, value);
    else if (value) headers[parameter.name] = value;
  }
  if (bodyType) headers["Content-Type"] = bodyType;
  const token = byId("token").value.trim();
  if (token && operation.security?.length !== 0) headers.Authorization = `Bearer ${token}`;
  // Beside this page: the service may be served below some other path.
  const url = new URL("." + path + (query.size ? `?${query}` : ""), location.href.split("#")[0]);
  return { method: operation.method.toUpperCase(), url, headers, body: bodyType ? body : undefined };
}

function asCurl({ method, url, headers, body }) {
  const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const lines = [`curl${method === "GET" ? "" : ` -X ${method}`} ${quote(decodeBraces(url.href))}`];
  for (const [name, value] of Object.entries(headers)) {
    lines.push(name === "Authorization"
      ? '-H "Authorization: Bearer $TOKEN"'
      : `-H ${quote(`${name}: ${value}`)}`);
  }
  if (body) lines.push(`--data ${quote(body)}`);
  return lines.join(" \\\n  ");
}

const decodeBraces = (text) => text.replaceAll("%7B", "{").replaceAll("%7D", "}");

async function send({ method, url, headers, body }, output, stop) {
  const control = new AbortController();
  const started = performance.now();
  output.replaceChildren(element("p", { class: "note" }, "Waiting for the answer"));
  stop.hidden = false;
  stop.onclick = () => control.abort();
  try {
    const answer = await fetch(url, { method, headers, body, signal: control.signal, cache: "no-store" });
    const title = element("p", { class: "outcome" },
      element("span", { class: `status s${String(answer.status)[0]}` }, String(answer.status)),
      element("span", { class: "note" }, `${Math.round(performance.now() - started)} ms`));
    const shown = element("pre", { tabindex: 0 });
    output.replaceChildren(title, headerList(answer.headers), shown);
    const text = await readText(answer, shown);
    if (isJson(answer.headers.get("Content-Type")) && text) shown.replaceWith(codeBlock(text));
    if (!text) shown.remove();
  } catch (error) {
    const words = error.name === "AbortError" ? "Stopped." : `No answer: ${error.message}`;
    output.append(element("p", { class: "note" }, words));
  } finally {
    stop.hidden = true;
  }
}

// A stream never ends by itself, so what has come is shown as it comes.
async function readText(answer, shown) {
  const decoder = new TextDecoder();
  const reader = answer.body?.getReader();
  let text = "";
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
    shown.textContent = text.slice(-SHOWN_CHARACTERS_MAX);
  }
  return text.length > SHOWN_CHARACTERS_MAX ? "" : text;
}

function headerList(headers) {
  return element("details", { class: "headers" }, element("summary", {}, "Headers"),
    element("pre", { tabindex: 0 }, [...headers].map(([name, value]) => `${name}: ${value}`).join("\n")));
}

// --- the page ---------------------------------------------------------------

function operationsOf(document_) {
  return Object.entries(document_.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({
      ...item[method],
      id: item[method].operationId,
      method,
      path,
      parameters: (item[method].parameters || []).map(resolve),
    })));
}

function show(operations) {
  byId("title").textContent = api.info.title;
  byId("heading").textContent = `${api.info.title} API`;
  byId("version").textContent = api.info.version;
  byId("introduction").replaceChildren(...prose(api.info.description));
  for (const tag of api.tags) {
    const tagged = operations.filter((operation) => operation.tags.includes(tag.name));
    byId("contents").append(element("section", { class: "group" },
      element("h2", {}, element("a", { href: `#tag-${tag.name}` }, tag.name)),
      element("ul", {}, tagged.map(({ id, method, path, summary }) => element("li", { "data-for": id },
        element("a", { href: `#${id}`, title: `${method.toUpperCase()} ${path}` },
          element("span", { class: `method ${method}` }, method.toUpperCase()),
          element("span", {}, inline(summary))))))));
    byId("operations").append(element("section", { class: "tag", id: `tag-${tag.name}` },
      element("h2", {}, tag.name), prose(tag.description), tagged.map(operationCard)));
  }
}

function filter(operations, words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  for (const operation of operations) {
    const text = `${operation.method} ${operation.path} ${operation.summary} ${operation.id}`.toLowerCase();
    const hidden = !wanted.every((word) => text.includes(word));
    byId(operation.id).hidden = hidden;
    document.querySelector(`[data-for="${operation.id}"]`).hidden = hidden;
  }
  for (const group of document.querySelectorAll(".group, .tag")) {
    group.hidden = !group.querySelector("li[data-for]:not([hidden]), .operation:not([hidden])");
  }
}

function openFromAddress() {
  const card = byId(decodeURIComponent(location.hash.slice(1)));
  if (!card?.classList.contains("operation")) return;
  card.open = true;
  card.scrollIntoView();
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === location.hash) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

async function start() {
  byId("credentials").addEventListener("submit", (event) => event.preventDefault());
  try {
    const answer = await fetch("openapi.json");
    if (!answer.ok) throw new Error(`the answer was ${answer.status}`);
    api = await answer.json();
  } catch (error) {
    byId("failure").textContent = `openapi.json can't be read: ${error.message}`;
    byId("failure").hidden = false;
    return;
  }
  const operations = operationsOf(api);
  show(operations);
  byId("filter").addEventListener("input", (event) => filter(operations, event.target.value));
  addEventListener("hashchange", openFromAddress);
  openFromAddress();
}

start();
