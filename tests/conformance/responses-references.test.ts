import assert from 'node:assert/strict';
import { test } from 'node:test';
import { send } from '../support/client.ts';
import { assertRefusal } from '../support/refusal.ts';
import { frame } from '../support/scripted-upstream.ts';
import { setTwoGateways } from '../support/stage.ts';

/** Clients that believe in stored items: they send ids in place of what an answer had, and two gateways answer in turn. */

const { service, second, app, upstream, newUser } = await setTwoGateways({
  catalogue: ({ models, ...others }) => {
    return {
      ...others,
      models: models.map((model) => ({ ...model, contextTokens: 4_000_000, maxOutputTokens: 2_000_000 })),
    };
  },
});
const user = await newUser(100_000_000);
const usage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 };
const AGENT = { 'user-agent': 'ai-sdk-openai/4.0.118 node.js/26' };

type Fields = Readonly<Record<string, unknown>>;
interface Item extends Fields {
  readonly id: string;
}

interface Step {
  readonly content: string | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly unknown[];
}

const CALL = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
const STEPS: Step[] = [{ reasoning_content: 'Let me look.', content: null, tool_calls: [CALL] }, { content: 'A cat.' }];
let step = 0;
upstream.script(({ body }) => {
  const said: Partial<Step> = STEPS[step % STEPS.length] ?? {};
  step += 1;
  const finish = 'tool_calls' in said ? 'tool_calls' : 'stop';
  const head = { id: 'c', created: 1, model: 'm' };
  if ((body as Fields)['stream'] !== true) {
    const choices = [{ index: 0, message: { role: 'assistant', ...said }, finish_reason: finish }];
    return { body: JSON.stringify({ ...head, object: 'chat.completion', choices, usage }) };
  }
  const calls = 'tool_calls' in said ? { tool_calls: [{ index: 0, ...CALL }] } : {};
  const chunkOf = (delta: Fields, reason: string | null) => {
    return frame({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: reason }] });
  };
  const last = frame({ ...head, object: 'chat.completion.chunk', choices: [], usage });
  const [content = null, ...pieces] = said.content?.match(/.{1,500000}/gs) ?? [];
  const chunks = [
    chunkOf({ role: 'assistant', ...said, content, ...calls }, null),
    ...pieces.map((piece) => chunkOf({ content: piece }, null)),
    chunkOf({}, finish),
    last,
  ];
  return { body: [...chunks, 'data: [DONE]\n\n'].map((write) => ({ write })) };
});

/** The items of an answer, as a client gets them. */
async function itemsOf(url: string, input: unknown, isStream: boolean): Promise<readonly Item[]> {
  const body = { model: 'large', input, stream: isStream, tools: [{ type: 'function', name: 'look' }] };
  const reply = await send('/v1/responses', { url, key: app.liveKey, user, headers: AGENT, body });
  assert.equal(reply.status, 200, reply.text);
  if (!isStream) return reply.body['output'] as readonly Item[];
  const events = reply.text.split('\n').filter((line) => line.startsWith('data: '));
  return events
    .map((line) => JSON.parse(line.slice(6)) as { readonly type: string; readonly item: Item })
    .flatMap(({ type, item }) => {
      return type === 'response.output_item.done' ? [item] : [];
    });
}

/** The messages that the provider was sent last. */
function messages(): readonly unknown[] {
  const { messages: sent } = (upstream.requests.at(-1)?.body ?? {}) as { readonly messages?: readonly unknown[] };
  return sent ?? [];
}

/** What the AI SDK sends back: ids of everything but calls, which come whole and without theirs. */
function referring(items: readonly Item[]): readonly Fields[] {
  return items.map(({ id, ...item }) => (item['type'] === 'function_call' ? item : { type: 'item_reference', id }));
}

for (const isStream of [false, true]) {
  test(`WI-05 ids work in a loop of tools and the next turn, ${isStream ? 'streamed' : 'plain'}`, async () => {
    const asked = { role: 'user', content: 'What is it?' };
    const first = referring(await itemsOf(service.url, [asked], isStream));
    const seen = { type: 'function_call_output', call_id: 'call_1', output: 'Fur.' };
    const next = referring(await itemsOf(second.url, [asked, ...first, seen], isStream));
    assert.deepEqual(messages(), [
      asked,
      { role: 'assistant', content: null, tool_calls: [CALL], reasoning_content: 'Let me look.' },
      { role: 'tool', tool_call_id: 'call_1', content: 'Fur.' },
    ]);
    const again = { role: 'user', content: 'Sure?' };
    await itemsOf(service.url, [asked, ...first, seen, ...next, again], isStream);
    assert.deepEqual(messages().slice(3), [{ role: 'assistant', content: [{ type: 'text', text: 'A cat.' }] }, again]);
    step = 0;
    const other = {
      url: second.url,
      key: app.liveKey,
      user: await newUser(1_000_000),
      body: { model: 'large', input: first },
    };
    assertRefusal(await send('/v1/responses', other), { code: 'BAD_REQUEST', param: 'input[0].id' });
  });
}

/** A text that no compression makes short enough for an id. */
const LARGE = Array.from({ length: 80_000 }, (_, place) => Math.sin(place)).join('');

for (const isStream of [false, true]) {
  test(`WI-05 what is too large for an id is refused by its reference, and taken whole, ${isStream ? 'streamed' : 'plain'}`, async () => {
    STEPS.splice(0, STEPS.length, { content: LARGE });
    const asked = { role: 'user', content: 'Tell me all.' };
    const [said, ...others] = await itemsOf(service.url, [asked], isStream);
    assert.ok(said !== undefined && said.id.length < 64 && others.length === 0, 'a short id, and no carrier');
    const before = [upstream.requests.length, await service.wallet(app, user)];
    const input = [asked, ...referring([said]), asked];
    const body = { model: 'large', input, stream: isStream };
    const refused = await send('/v1/responses', { url: second.url, key: app.liveKey, user, headers: AGENT, body });
    assertRefusal(refused, { code: 'BAD_REQUEST', param: 'input[1].id' });
    assert.match(String(refused.error['message']), /was not too large for one.*Send the item whole.*`"store": false`/);
    assert.deepEqual([upstream.requests.length, await service.wallet(app, user)], before);
    STEPS.splice(0, STEPS.length, { content: 'Yes.' });
    await itemsOf(second.url, [asked, said, asked], isStream);
    assert.deepEqual(messages(), [asked, { role: 'assistant', content: [{ type: 'text', text: LARGE }] }, asked]);
  });
}
