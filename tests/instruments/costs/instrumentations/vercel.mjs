// Record the spans of Vercel's AI SDK 6 and 7: ask the scripted provider at a URL in
// two turns for each case, and send the spans to it.
// node vercel.mjs FOLDER_OF_NODE_MODULES URL API MAJOR ROOT CASE

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [folder, url, api, major, root, caseName] = process.argv.slice(2);
const require = createRequire(`${folder}/package.json`);
const load = (name) => import(pathToFileURL(require.resolve(name)).href);

const { context, trace } = await load('@opentelemetry/api');
const { NodeTracerProvider, SimpleSpanProcessor } = await load('@opentelemetry/sdk-trace-node');
const { OTLPTraceExporter } = await load('@opentelemetry/exporter-trace-otlp-http');
const { resourceFromAttributes } = await load('@opentelemetry/resources');
const sdk = await load('ai');

const provider = new NodeTracerProvider({
  resource: resourceFromAttributes({
    'service.name': 'agent',
    'agent_runtime.agent_id': '6f2d2f4e-94a2-4a2e-8a52-3b0c6f4b8a10',
  }),
  spanProcessors: [
    new SimpleSpanProcessor(new OTLPTraceExporter({ url: `${url}/v1/traces` })),
  ],
});
provider.register();
if (major === '7') {
  const { OpenTelemetry } = await load('@ai-sdk/otel');
  sdk.registerTelemetry(new OpenTelemetry());
}

const post = (path, body) =>
  fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

async function model() {
  const apiKey = 'none';
  if (api === 'anthropic') {
    const { createAnthropic } = await load('@ai-sdk/anthropic');
    return createAnthropic({ apiKey, baseURL: `${url}/v1` })('claude-sonnet-4-5');
  }
  if (api === 'google') {
    const { createGoogleGenerativeAI } = await load('@ai-sdk/google');
    const name = caseName === 'audio' ? 'gemini-2.5-flash' : 'gemini-2.5-pro';
    return createGoogleGenerativeAI({ apiKey, baseURL: `${url}/v1beta` })(name);
  }
  const { createOpenAI } = await load('@ai-sdk/openai');
  const openai = createOpenAI({ apiKey, baseURL: `${url}/v1` });
  const name = caseName === 'audio' ? 'gpt-audio' : 'gpt-5.2';
  return api === 'chat' ? openai.chat(name) : openai.responses(name);
}

async function tools() {
  if (caseName !== 'search') return undefined;
  if (api === 'anthropic') {
    const { anthropic } = await load('@ai-sdk/anthropic');
    return { web_search: anthropic.tools.webSearch_20250305({}) };
  }
  if (api === 'google') {
    const { google } = await load('@ai-sdk/google');
    return { google_search: google.tools.googleSearch({}) };
  }
  const { openai } = await load('@ai-sdk/openai');
  return { web_search: openai.tools.webSearch({}) };
}

const tier = ['flex', 'priority'].includes(caseName) ? caseName : undefined;

async function ask(question, stream) {
  const metadata = root === 'none' ? { sessionId: 'chat' } : {};
  const telemetry = { isEnabled: true, functionId: 'helper', metadata };
  const asked = {
    model: await model(),
    prompt: question,
    maxRetries: 0,
    tools: await tools(),
    providerOptions: tier ? { openai: { serviceTier: tier } } : undefined,
    ...(major === '7' ? { telemetry } : { experimental_telemetry: telemetry }),
  };
  if (major === '7' && root === 'none') asked.runtimeContext = { sessionId: 'chat' };
  if (!stream) return (await sdk.generateText(asked)).text;
  let text = '';
  for await (const part of sdk.streamText(asked).textStream) text += part;
  return text;
}

await post('/begin', { case: caseName });
const questions = ['What is due?', 'And tomorrow?'];
const answers = ['Two are due today.', 'Nothing is due tomorrow.'];
for (const [turn, question] of questions.entries()) {
  await post('/turn', { turn });
  const check = async () => {
    const answer = await ask(question, turn === 1);
    if (answer !== answers[turn]) throw new Error(`answered ${answer}`);
  };
  if (root === 'none') {
    await check();
  } else {
    await trace.getTracer('agent').startActiveSpan('turn', async (span) => {
      span.setAttribute('session.id', 'chat');
      await check();
      span.end();
    });
  }
}
await provider.forceFlush();
await provider.shutdown();
