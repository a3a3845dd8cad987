import assert from 'node:assert/strict';
import { test } from 'node:test';
import type OpenAI from 'openai';
import { setVendorStage } from '../support/vendor-stage.ts';
import { anthropic } from '../support/vendors/anthropic.ts';
import { bedrock } from '../support/vendors/bedrock.ts';
import { ANSWER_SCHEMA, PIXEL, SCHEMA_ANSWER, WEATHER } from '../support/vendors/vendor.ts';

/** Every kind that speaks a vendor's own format, through the whole service with an unmodified client library. */

const VENDORS = [anthropic, bedrock];
const stage = await setVendorStage(VENDORS);
const { client, modelOf, paid } = stage;

type Asked = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'model' | 'stream'>;
type Delta = OpenAI.ChatCompletionChunk.Choice.Delta & { reasoning_details?: unknown[] };
type Message = OpenAI.ChatCompletionMessage;

interface Said {
  readonly message: Message;
  readonly reason: string | null | undefined;
  /** How many chunks had any text, and any arguments of a tool. */
  readonly deltas?: { readonly texts: number; readonly arguments: number };
}

async function plain(model: string, asked: Asked): Promise<Said> {
  const { choices } = await client.chat.completions.create({ model, ...asked });
  const [choice] = choices;
  assert.ok(choice);
  return { message: choice.message, reason: choice.finish_reason };
}

async function streamed(model: string, asked: Asked): Promise<Said> {
  const stream = client.chat.completions.stream({ model, ...asked, stream: true });
  const deltas = { texts: 0, arguments: 0 };
  const details: unknown[] = [];
  for await (const { choices } of stream) {
    const delta: Delta | undefined = choices[0]?.delta;
    if (delta?.content) deltas.texts += 1;
    if (delta?.tool_calls?.some((call) => call.function?.arguments)) deltas.arguments += 1;
    details.push(...(delta?.reasoning_details ?? []));
  }
  const [choice] = (await stream.finalChatCompletion()).choices;
  assert.ok(choice);
  const message = { ...choice.message, ...(details.length === 0 ? {} : { reasoning_details: details }) };
  return { message, reason: choice.finish_reason, deltas };
}

const USER = { role: 'user' as const, content: 'Hello' };
const WAYS = { plain, streamed };

for (const vendor of VENDORS) {
  const model = modelOf(vendor, 'plain');
  for (const [way, ask] of Object.entries(WAYS)) {
    test(`MO-09 ${vendor.kind}, ${way}: a text, with the charge of the vendor’s usage`, async () => {
      const system = { role: 'system' as const, content: 'Be brief.' };
      const { message, reason } = await paid(vendor, () => ask(model, { messages: [system, USER], stop: ['END'] }));
      assert.match(message.content ?? '', /^Hello from (Claude|anthropic) 🐟$/u);
      assert.equal(reason, 'stop');
    });

    test(`MO-09 ${vendor.kind}, ${way}: parallel tool calls, their results, and deltas as they come`, async () => {
      const asked = { messages: [USER], tools: [WEATHER] };
      const { message, reason, deltas } = await paid(vendor, () => ask(model, asked));
      assert.equal(reason, 'tool_calls');
      const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function');
      assert.deepEqual(
        calls.map((call) => [call.function.name, JSON.parse(call.function.arguments)]),
        [
          ['weather', { city: 'Bern' }],
          ['weather', { city: 'Zürich' }],
        ],
      );
      if (deltas !== undefined) assert.ok(deltas.arguments > 2, 'arguments come in pieces');
      const results = calls.map(({ id }, place) => ({
        role: 'tool' as const,
        tool_call_id: id,
        content: `${place} degrees`,
      }));
      const next = await paid(vendor, () => ask(model, { ...asked, messages: [USER, message, ...results] }));
      assert.equal(next.message.content, 'Results: 0 degrees, 1 degrees');
    });

    test(`MO-09 ${vendor.kind}, ${way}: an image as data`, async () => {
      const image = { type: 'image_url' as const, image_url: { url: `data:image/png;base64,${PIXEL}` } };
      const content = [{ type: 'text' as const, text: 'What is this?' }, image];
      const { message } = await paid(vendor, () => ask(model, { messages: [{ role: 'user', content }] }));
      assert.equal(message.content, 'I see 1 image');
    });

    test(`MO-09 ${vendor.kind}, ${way}: a JSON schema`, async () => {
      const format = { type: 'json_schema' as const, json_schema: { name: 'place', schema: ANSWER_SCHEMA } };
      const { message, reason } = await paid(vendor, () => ask(model, { messages: [USER], response_format: format }));
      assert.deepEqual([JSON.parse(message.content ?? ''), reason], [JSON.parse(SCHEMA_ANSWER), 'stop']);
    });
  }
}

test('MO-09 no library changed or left out a part of any request on its own', async () => {
  assert.equal(await stage.warnings(), 0);
});
