// A server whose tools ask their client, and a client that answers, of the official
// TypeScript SDK with sessions. Run where node_modules is:
//
//   asking.mjs serve            writes the URL, and serves until it is ended
//   asking.mjs call URL TOKEN   calls all tools, and writes {NAME: RESULT or {error}}
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createRequire } from "node:module";

const require = createRequire(`${process.cwd()}/`);
const sdk = (path) => require(`@modelcontextprotocol/sdk/${path}.js`);
const TYPES = sdk("types");
const FORM = {
  mode: "form",
  message: "who?",
  requestedSchema: { type: "object", properties: { name: { type: "string" } } },
};
const PROMPT = {
  messages: [{ role: "user", content: { type: "text", text: "rhyme" } }],
  maxTokens: 9,
};
const OBJECT = { type: "object", properties: {} };
const TIMEOUT_MS = 20_000;

// Each gets the server and what sends within the stream of the call.
const TOOLS = {
  elicit_within: (_, send) =>
    send({ method: "elicitation/create", params: FORM }, TYPES.ElicitResultSchema),
  elicit_beside: (server) => server.elicitInput(FORM),
  sample_within: (_, send) =>
    send({ method: "sampling/createMessage", params: PROMPT }, TYPES.CreateMessageResultSchema),
  sample_beside: (server) => server.createMessage(PROMPT),
  roots_within: (_, send) => send({ method: "roots/list" }, TYPES.ListRootsResultSchema),
  roots_beside: (server) => server.listRoots(),
  several: (server, send) =>
    Promise.all([TOOLS.elicit_within(server, send), TOOLS.sample_beside(server), TOOLS.roots_within(server, send)]),
  // What it is answered with is an error.
  refused: async (server) => {
    try {
      await server.createMessage({ ...PROMPT, systemPrompt: "refuse" });
    } catch (error) {
      return { code: error.code };
    }
  },
};

function newServer() {
  const { Server } = sdk("server/index");
  const server = new Server({ name: "asking", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler(TYPES.ListToolsRequestSchema, () => ({
    tools: Object.keys(TOOLS).map((name) => ({ name, inputSchema: OBJECT })),
  }));
  server.setRequestHandler(TYPES.CallToolRequestSchema, async ({ params }, { sendRequest }) => {
    const told = await TOOLS[params.name](server, sendRequest);
    return { content: [{ type: "text", text: JSON.stringify(told) }] };
  });
  return server;
}

function serve() {
  const { StreamableHTTPServerTransport } = sdk("server/streamableHttp");
  const transports = new Map();
  const http = createServer(async (request, response) => {
    let transport = transports.get(request.headers["mcp-session-id"]);
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => transports.set(id, transport),
      });
      await newServer().connect(transport);
    }
    await transport.handleRequest(request, response);
  });
  http.listen(0, "127.0.0.1", () => {
    console.log(`http://127.0.0.1:${http.address().port}/mcp`);
  });
}

async function call(url, token) {
  const { Client } = sdk("client/index");
  const { StreamableHTTPClientTransport } = sdk("client/streamableHttp");
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
  const client = new Client({ name: "answering", version: "1" }, { capabilities });
  client.setRequestHandler(TYPES.ElicitRequestSchema, () => ({
    action: "accept",
    content: { name: "Ada" },
  }));
  client.setRequestHandler(TYPES.CreateMessageRequestSchema, ({ params }) => {
    if (params.systemPrompt === "refuse") {
      throw new TYPES.McpError(-32042, "no");
    }
    return { model: "m", role: "assistant", content: { type: "text", text: "banana" } };
  });
  client.setRequestHandler(TYPES.ListRootsRequestSchema, () => ({
    roots: [{ uri: "file:///home", name: "home" }],
  }));
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  const { tools } = await client.listTools();
  const found = {};
  for (const { name } of tools) {
    try {
      found[name] = await client.callTool({ name, arguments: {} }, undefined, { timeout: TIMEOUT_MS });
    } catch (error) {
      found[name] = { error: String(error) };
    }
  }
  process.stdout.write(JSON.stringify(found), () => process.exit(0));
}

const [what, ...rest] = process.argv.slice(2);
await { serve, call }[what](...rest);
