// Every event that a caller gets on each wire, from each kind of provider, by the types that the vendor has published.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../packages/service/src/kernel/text/json.ts';
import { type Reply, send } from '../support/client.ts';
import { type SpokenWire, WIRES_OF_OPENAI } from '../support/wires.ts';
import { joinStream } from './messages/join-stream.ts';
import { PLAIN } from './messages/plain-cases.ts';
import { anySteps, sentFor } from './messages/random-streams.ts';
import { eventsNamed, STREAM_NAMES } from './messages/stream-cases.ts';
import { eventsOf } from './messages/streams.ts';
import { anthropic } from './providers/vendors/anthropic.ts';
import { azure } from './providers/vendors/azure.ts';
import { bedrock } from './providers/vendors/bedrock.ts';
import { google, startVertex } from './providers/vendors/google.ts';
import { mistral } from './providers/vendors/mistral.ts';
import { responses } from './providers/vendors/responses.ts';
import {
  ANSWER_SCHEMA,
  CANARY,
  PIXEL,
  SCHEMA_ANSWER,
  type Vendor,
  WEATHER,
  writerIn,
} from './providers/vendors/vendor.ts';
import { setVendorStage } from './providers/vendors/vendor-stage.ts';
import { chunkOf, eventsIn } from './responses/streams.ts';
import { assertModelsTake, type Spoken } from './strict-types.ts';

const directory = mkdtempSync(join(tmpdir(), 'purser-types-'));
const { vendor: vertex, close } = await startVertex(writerIn(directory));
const VENDORS = [azure, responses, anthropic, bedrock, google, vertex, mistral];
after(async () => {
  await close();
  rmSync(directory, { recursive: true });
});
const stage = await setVendorStage(VENDORS);
stage.service.keepSecret(CANARY);

const TOOLS = [{ name: 'weather', input_schema: WEATHER.function.parameters }];
const HELLO = { role: 'user', content: 'Hello' };
const IMAGE = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } };
/** All that was said, for the types at the end. */
const spoken: Spoken[] = [];

function ask(vendor: Vendor, fields: JsonObject): Promise<Reply> {
  return askBy('/v1/messages', vendor, { max_tokens: 4_000, messages: [HELLO], ...fields });
}

function askBy(path: string, vendor: Vendor, fields: JsonObject): Promise<Reply> {
  const body = { model: stage.modelOf(vendor, 'plain'), ...fields };
  return stage.paid(vendor, () => send(path, { url: stage.service.url, key: stage.app.liveKey, user: 'anna', body }));
}

/** Notes what is said by another wire, streamed and not. */
async function noteBy({ path, streamed, name }: SpokenWire, vendor: Vendor, fields: JsonObject): Promise<void> {
  const [whole, piece] =
    name === 'Responses' ? (['response', 'event of Responses'] as const) : (['completion', 'chunk'] as const);
  const plain = await askBy(path, vendor, fields);
  assert.equal(plain.status, 200, plain.text);
  const { text } = await askBy(path, vendor, { ...fields, ...streamed });
  const events = Array.from(text.matchAll(/^data: (\{.*)$/gm), ([, json = '']) => JSON.parse(json) as JsonObject);
  assert.ok(events.length > 2, text);
  const rows = [[whole, plain.body] as const, ...events.map((event) => [piece, event] as const)];
  spoken.push(...rows.map(([kind, value]): Spoken => [kind, `${vendor.kind} ${Object.keys(fields).join()}`, value]));
}

/** The content of an answer, plain and streamed, which are the same but for what is new in each. */
async function saidTo(vendor: Vendor, fields: JsonObject): Promise<readonly JsonObject[]> {
  const { status, text, body: plain } = await ask(vendor, fields);
  assert.equal(status, 200, text);
  const streamed = await ask(vendor, { ...fields, stream: true });
  assert.equal(streamed.status, 200, streamed.text);
  const events = eventsIn(streamed.text);
  const joined = joinStream(events);
  assert.deepEqual(factsOf(joined), factsOf(plain));
  const name = `${vendor.kind} ${JSON.stringify(fields).slice(0, 200)}`;
  spoken.push(['message', name, plain]);
  spoken.push(...events.filter(isTyped).map((event): Spoken => ['event of Messages', name, event]));
  return plain['content'] as readonly JsonObject[];
}

const isTyped = ({ type }: JsonObject): boolean => type !== 'ping';

function factsOf({ content, stop_reason: stop, usage }: JsonObject) {
  const { input_tokens: input, output_tokens: output, cache_read_input_tokens: cached } = usage as JsonObject;
  return { content: known(content), stop, input, output, cached };
}

/** Without what is made anew for each answer: names of calls, and what we seal of them. */
function known(content: unknown): unknown {
  const blocks = content as readonly JsonObject[];
  return blocks.map(({ id, signature, ...block }) => [block, typeof id, String(signature).split('.')[0]]);
}

const textOf = (content: readonly JsonObject[]): string => content.map(({ text = '' }) => String(text)).join('');

for (const vendor of VENDORS) {
  const kind = vendor === responses ? 'responses' : vendor.kind;

  test(`WI-09 ${kind}: a text, thoughts, an image and a schema by Messages`, async () => {
    assert.match(textOf(await saidTo(vendor, { system: 'Be brief.' })), /^Hello from .* 🐟$/u);
    const seen = await saidTo(vendor, { messages: [{ role: 'user', content: [IMAGE] }] });
    assert.equal(textOf(seen), 'I see 1 image');
    const format = { type: 'json_schema', schema: ANSWER_SCHEMA };
    const made = await saidTo(vendor, { output_config: { format } });
    assert.equal(textOf(made), SCHEMA_ANSWER);
  });

  test(`WI-09 ${kind}: calls of tools and their results by Messages`, async () => {
    const thinking = vendor === anthropic || vendor === bedrock ? { type: 'enabled', budget_tokens: 2_000 } : undefined;
    const fields = { tools: TOOLS, ...(thinking && { thinking }) };
    const content = await saidTo(vendor, fields);
    const calls = content.filter(({ type }) => type === 'tool_use');
    assert.deepEqual(
      calls.map(({ input }) => input),
      [{ city: 'Bern' }, { city: 'Zürich' }],
    );
    if (thinking) assert.equal(content[0]?.['type'], 'thinking');
    const results = calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'mild' }));
    const messages = [HELLO, { role: 'assistant', content }, { role: 'user', content: results }];
    assert.equal(textOf(await saidTo(vendor, { ...fields, messages })), 'Results: mild, mild');
  });

  test(`WI-09 ${kind}: a text and calls of tools by the other wires`, async () => {
    for (const wire of WIRES_OF_OPENAI) {
      await noteBy(wire, vendor, wire.promptOf('Hello'));
      await noteBy(wire, vendor, { ...wire.promptOf('Hello'), ...wire.toolsOf(WEATHER.function.parameters) });
    }
  });

  test(`WI-09 ${kind}: failures by Messages`, async () => {
    for (const [word] of vendor.failures) {
      const { body } = await ask(vendor, { messages: [{ role: 'user', content: `fail ${word}` }] });
      spoken.push(['error of Messages', `${kind} ${word}`, body]);
    }
    for (const [word] of vendor.lateFailures) {
      const messages = [{ role: 'user', content: `fail ${word} late` }];
      const { headers, text, body } = await ask(vendor, { messages, stream: true });
      const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
      const error = isStream ? (eventsIn(text).at(-1) ?? {}) : body;
      assert.equal(error['type'], 'error', text);
      spoken.push(['error of Messages', `${kind} ${word} late`, error]);
    }
  });
}

/** Streams that are made by hand, and 100 in which a model says anything in any order. */
function made(): readonly Spoken[] {
  const seed = Number(process.env['PURSER_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  const random = fc.sample(fc.tuple(anySteps, fc.constantFrom('end', 'cut')), { seed, numRuns: 100 });
  const streams = [
    ...STREAM_NAMES.map((name) => [name, eventsNamed(name)] as const),
    ...random.map(([steps, how], place) => {
      const { sent } = sentFor(steps);
      const whole = how === 'end' ? [...sent, chunkOf({}, 'stop')] : sent;
      return [`seed ${seed}, stream ${place}`, eventsOf(whole, { how: how === 'end' ? 'end' : 'cut' })] as const;
    }),
  ];
  const events = streams.flatMap(([name, all]) =>
    all.filter(isTyped).map((event): Spoken => ['event of Messages', name, event]),
  );
  return [...events, ...Object.entries(PLAIN).map(([name, make]): Spoken => ['message', name, make()])];
}

test('WI-09 the vendors’ strict models take all that was said', (t) => {
  assertModelsTake(t, [...spoken, ...made()]);
});
