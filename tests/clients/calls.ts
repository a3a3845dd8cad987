import assert from 'node:assert/strict';
import { chargeFor } from '../support/catalogue.ts';
import { completionBody, frame, type UpstreamStep } from '../support/scripted-upstream.ts';
import { waitUntil } from '../support/wait-until.ts';
import { BALANCE, COST, MODEL, PLAIN, type Scenario, STREAM, TEXT, USAGE } from './scenario.ts';
import type { Scene } from './scene.ts';
import type { JsonSchema, ToolCall } from './stock-client.ts';

/** Funds a user, has the client make a call, and returns what the client learned and what it cost. No hold is left behind. */
async function paid(scene: Scene, ask: Parameters<Scene['ask']>[1]) {
  const user = await scene.newUser(BALANCE);
  const told = await scene.ask(user, ask);
  assert.equal(told.failure ?? undefined, undefined);
  const { balance, held, openStreams } = await scene.stage.service.wallet(scene.stage.app, user);
  assert.deepEqual([held, openStreams, scene.arrived(user).length], [0, 0, 1]);
  return { told, cost: BALANCE - balance };
}

const PARAMETERS: JsonSchema = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' } },
  required: ['city', 'days'],
  additionalProperties: false,
};
const TOOLS = [{ name: 'forecast', parameters: PARAMETERS }];
const OSLO: ToolCall = { id: 'call_oslo', name: 'forecast', arguments: { city: 'Oslo', days: 2 } };
const ROME: ToolCall = { id: 'call_rome', name: 'forecast', arguments: { city: 'Rome', days: 3 } };

/** One pixel: so small that no client has a reason to shrink it. */
const IMAGE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Calls that succeed, each with the right charge. */
export const CALLS: readonly Scenario[] = [
  {
    name: 'plain',
    clause: 'CC-01',
    promise: 'gets a buffered completion, and its usage is what is charged',
    run: async (scene) => {
      scene.provide(PLAIN);
      const { told, cost } = await paid(scene, {});
      assert.deepEqual(told, { ...told, text: TEXT, calls: [], usage: { prompt: 20, completion: 7 } });
      assert.equal(cost, COST);
      return 'ok';
    },
  },
  {
    name: 'stream',
    clause: 'CC-01',
    promise: 'reads a stream to its end, and learns the charged usage if it asked for it',
    run: async (scene) => {
      scene.provide(STREAM);
      const { told, cost } = await paid(scene, { stream: true });
      assert.deepEqual(told, { ...told, text: TEXT, usage: { prompt: 20, completion: 7 } });
      assert.equal(cost, COST);
      return 'ok';
    },
  },
  {
    name: 'usage not requested',
    clause: 'CC-12',
    promise: 'gets no usage for a stream when it did not ask, and is charged the same',
    run: async (scene) => {
      scene.provide(STREAM);
      const { told, cost } = await paid(scene, { stream: true, usage: false });
      assert.equal(told.text, TEXT);
      assert.equal(cost, COST);
      return (told.usage?.prompt ?? 0) === 0 ? 'ok' : 'usage';
    },
  },
  { name: 'tools', clause: 'CC-13', promise: 'calls a tool and gets an answer to the tool’s result', run: roundTrip },
  {
    name: 'parallel tools, streamed',
    clause: 'CC-13',
    promise: 'assembles two tool calls whose arguments arrive interleaved',
    run: async (scene) => {
      scene.provide({ body: parallelCalls([OSLO, ROME]) });
      const { told } = await paid(scene, { stream: true, tools: TOOLS });
      assert.deepEqual(told.calls, [OSLO, ROME]);
      return 'ok';
    },
  },
  { name: 'JSON schema', clause: 'CC-13', promise: 'gets an answer of the requested shape', run: shapedAnswer },
  { name: 'image', clause: 'CC-13', promise: 'sends an image, which reaches the provider unchanged', run: image },
  {
    name: 'test key',
    clause: 'SB-02',
    promise: 'gets canned answers with a test key, for sandbox money',
    run: playMoney,
  },
  { name: 'caller leaves mid-stream', clause: 'CC-11', promise: 'leaves, and pays for what was generated', run: leave },
];

async function roundTrip(scene: Scene): Promise<string> {
  const toolCalls = [wireCall(OSLO, JSON.stringify(OSLO.arguments))];
  const asks = completionBody({ model: MODEL, content: null, toolCalls, usage: USAGE, finishReason: 'tool_calls' });
  scene.provide({ body: asks }, PLAIN);
  const { told } = await paid(scene, { tools: TOOLS });
  assert.deepEqual(told.calls, [OSLO]);
  const result = { role: 'tool' as const, call: OSLO, result: '{"sun":true}' };
  const messages = [scene.opening, { role: 'assistant' as const, calls: told.calls }, result];
  assert.equal((await paid(scene, { tools: TOOLS, messages })).told.text, TEXT);
  const [first, second] = sent(scene);
  const { name, parameters } = first?.tools?.[0]?.function ?? {};
  assert.deepEqual({ name, parameters }, { name, parameters: { ...parameters, ...PARAMETERS } });
  const [, called, answered] = second?.messages ?? [];
  assert.equal(called?.tool_calls?.[0]?.id, OSLO.id);
  assert.deepEqual([answered?.tool_call_id, answered?.content], [OSLO.id, result.result]);
  return 'ok';
}

/** The parts of a request that scenarios look at, as the provider received them. */
interface Sent {
  readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters: object } }[];
  readonly messages: readonly {
    readonly content?: unknown;
    readonly tool_call_id?: string;
    readonly tool_calls?: readonly { readonly id: string }[];
  }[];
  readonly response_format?: { readonly type: string; readonly json_schema: { readonly schema: object } };
}

function sent(scene: Scene): readonly Sent[] {
  return scene.provided().map(({ body }) => body as Sent);
}

function wireCall({ id, name }: ToolCall, given: string) {
  return { id, type: 'function', function: { name, arguments: given } };
}

function chunkOf(delta: object, reason: string | null = null): UpstreamStep {
  return write({ choices: [{ index: 0, delta, finish_reason: reason }] });
}

function write(fields: object): UpstreamStep {
  return { write: frame({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: MODEL, ...fields }) };
}

/** Two calls, opened one after the other; their arguments follow in turn, a few characters at a time. */
function parallelCalls(calls: readonly ToolCall[]): readonly UpstreamStep[] {
  const begins = calls.map((call, index) => chunkOf({ tool_calls: [{ index, ...wireCall(call, '') }] }));
  const texts = calls.map((call) => JSON.stringify(call.arguments));
  const bits: UpstreamStep[] = [];
  for (let at = 0; texts.some(({ length }) => at < length); at += 5) {
    for (const [index, text] of texts.entries()) {
      bits.push(chunkOf({ tool_calls: [{ index, function: { arguments: text.slice(at, at + 5) } }] }));
    }
  }
  const role = chunkOf({ role: 'assistant', content: null });
  return [
    role,
    ...begins,
    ...bits,
    chunkOf({}, 'tool_calls'),
    write({ choices: [], usage: USAGE }),
    { write: frame('[DONE]') },
  ];
}

async function shapedAnswer(scene: Scene): Promise<string> {
  scene.provide({ body: completionBody({ model: MODEL, content: '{"city":"Oslo","days":2}', usage: USAGE }) });
  const { told } = await paid(scene, { schema: PARAMETERS });
  assert.deepEqual(JSON.parse(told.text), { city: 'Oslo', days: 2 });
  const format = sent(scene)[0]?.response_format;
  assert.equal(format?.type, 'json_schema');
  assert.deepEqual(format.json_schema.schema, { ...format.json_schema.schema, ...PARAMETERS });
  return 'ok';
}

async function image(scene: Scene): Promise<string> {
  scene.provide(PLAIN);
  const { told } = await paid(scene, { messages: [{ ...scene.opening, image: IMAGE }] });
  assert.equal(told.text, TEXT);
  const parts = sent(scene)[0]?.messages[0]?.content as readonly { image_url?: { url: string } }[];
  assert.deepEqual(
    parts.flatMap(({ image_url: part }) => part?.url ?? []),
    [IMAGE],
  );
  return 'ok';
}

async function playMoney(scene: Scene): Promise<string> {
  const { service, app } = scene.stage;
  const user = await scene.newUser(BALANCE);
  const plain = await scene.ask(user, {}, app.testKey);
  const streamed = await scene.ask(user, { stream: true }, app.testKey);
  assert.deepEqual([plain.failure?.message, streamed.failure?.message], [undefined, undefined]);
  assert.ok(plain.text !== '' && (plain.usage?.completion ?? 0) > 0);
  assert.deepEqual([streamed.text, streamed.usage?.completion], [plain.text, plain.usage?.completion]);
  assert.deepEqual([(await service.wallet(app, user)).balance, scene.provided().length], [BALANCE, 0]);
  return 'ok';
}

async function leave(scene: Scene): Promise<string> {
  scene.provide({ body: [...STREAM.body.slice(0, 3), { hang: true }] });
  const user = await scene.newUser(BALANCE);
  await scene.ask(user, { stream: true, leaves: true });
  const { service, app } = scene.stage;
  const { balance, openStreams } = await waitUntil('the call is settled', async () => {
    const wallet = await service.wallet(app, user);
    return wallet.held === 0 && wallet;
  });
  await scene.provided()[0]?.closed;
  const cost = BALANCE - balance;
  assert.ok(cost > 0 && cost <= chargeFor({ prompt: 100, completion: 10 }), `${cost}`);
  assert.deepEqual([openStreams, scene.arrived(user).length, scene.provided()[0]?.aborted], [0, 1, true]);
  return 'ok';
}
