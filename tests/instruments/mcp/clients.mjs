// Lists and calls the tools of servers, by clients of the official TypeScript SDKs.
//
// Reads [{url, token, era}] from standard input; writes for each what it found:
// {tools: {NAME: RESULT or {error}}} or {error}. Run where node_modules is.
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";

const require = createRequire(`${process.cwd()}/`);
const CLIENTS = {
  // 1.x, which speaks the revisions with a handshake alone.
  handshake: () => ({
    Client: require("@modelcontextprotocol/sdk/client/index.js").Client,
    Transport: require("@modelcontextprotocol/sdk/client/streamableHttp.js").StreamableHTTPClientTransport,
    options: {},
  }),
  // 2.x, which asks for the stateless revision first.
  auto: () => ({
    Client: require("@modelcontextprotocol/client").Client,
    Transport: require("@modelcontextprotocol/client").StreamableHTTPClientTransport,
    options: { versionNegotiation: { mode: "auto" } },
  }),
};
const TIMEOUT_MS = 20_000;
const AT_ONCE = 4;

async function visit({ url, token, era }) {
  const { Client, Transport, options } = CLIENTS[era]();
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const transport = new Transport(new URL(url), { requestInit: { headers } });
  const client = new Client({ name: "visitor", version: "1" }, options);
  try {
    await client.connect(transport, { timeout: TIMEOUT_MS });
    const { tools } = await client.listTools(undefined, { timeout: TIMEOUT_MS });
    const found = {};
    for (const { name } of tools) {
      found[name] = await call(client, era, name);
    }
    return { tools: found };
  } catch (error) {
    return { error: String(error).slice(0, 500) };
  } finally {
    await client.close().catch(() => {});
  }
}

async function call(client, era, name) {
  const asked = { name, arguments: {} };
  const limits = { timeout: TIMEOUT_MS };
  try {
    const { content, structuredContent, isError } = await (era === "handshake"
      ? client.callTool(asked, undefined, limits)
      : client.callTool(asked, limits));
    return { content, structured: structuredContent ?? null, failed: isError ?? false };
  } catch (error) {
    return { error: String(error).slice(0, 500) };
  }
}

const wanted = JSON.parse(await text(process.stdin));
const results = new Array(wanted.length);
let next = 0;
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    while (next < wanted.length) {
      const number = next++;
      results[number] = await visit(wanted[number]);
    }
  }),
);
process.stdout.write(JSON.stringify(results), () => process.exit(0));
