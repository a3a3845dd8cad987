// Loops of tools by the vendor's own library and by the AI SDK: what the model has thought comes back to it with its calls.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import Anthropic from '@anthropic-ai/sdk';
import type { MessageParam, ToolResultBlockParam } from '@anthropic-ai/sdk/resources/messages';
import { generateText, isStepCount, jsonSchema, streamText, tool } from 'ai';
import { setStage } from '../support/stage.ts';

const { service, app, upstream, newUser } = await setStage({
  checksBooks: true,
  catalogue: ({ models, ...rest }) => ({
    ...rest,
    models: models.map((model) => ({ ...model, maxOutputTokens: 4_000 })),
  }),
});
const user = await newUser(100_000_000);
const headers = { 'x-service-user': user };
const USAGE = { prompt_tokens: 20, completion_tokens: 8, total_tokens: 28 };
const SCHEMA = { type: 'object' as const, properties: { city: { type: 'string' } } };

interface Sent {
  readonly messages: readonly Readonly<Record<string, unknown>>[];
}

/** A provider that thinks and calls a tool, and then says what the tool has said. */
function scriptLoop(isStream: boolean): { readonly asked: () => readonly Sent[] } {
  const first = upstream.requests.length;
  const called = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } };
  upstream.script((_, index) => {
    const isFirst = index === first;
    const said = isFirst
      ? { content: null, reasoning_content: 'I ask.', tool_calls: [called] }
      : { content: 'Sunny.', reasoning_content: 'I know.' };
    const reason = isFirst ? 'tool_calls' : 'stop';
    if (!isStream) {
      const choice = { index: 0, message: { role: 'assistant', ...said }, finish_reason: reason };
      return { body: JSON.stringify({ id: 'x', object: 'chat.completion', choices: [choice], usage: USAGE }) };
    }
    const calls = isFirst ? { tool_calls: [{ index: 0, ...called }] } : {};
    const chunks = [
      { delta: { role: 'assistant', reasoning_content: said.reasoning_content }, finish_reason: null },
      { delta: isFirst ? calls : { content: said.content }, finish_reason: null },
      { delta: {}, finish_reason: reason },
    ].map((choice) => ({ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }] }));
    const all = [...chunks, { id: 'x', object: 'chat.completion.chunk', choices: [], usage: USAGE }];
    const write = `${all.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`;
    return { body: [{ write }] };
  });
  return { asked: () => upstream.requests.slice(first).map(({ body }) => body as Sent) };
}

function assertWentBack(asked: readonly Sent[]): void {
  assert.equal(asked.length, 2);
  const [, assistant, result] = asked[1]?.messages ?? [];
  assert.deepEqual(
    [assistant?.['role'], assistant?.['reasoning_content'], result?.['role'], result?.['tool_call_id']],
    ['assistant', 'I ask.', 'tool', 'call_1'],
  );
  const [call] = (assistant?.['tool_calls'] ?? []) as readonly { id: string; function: { arguments: string } }[];
  assert.deepEqual([call?.id, JSON.parse(call?.function.arguments ?? '')], ['call_1', { city: 'Rome' }]);
}

for (const isStream of [false, true]) {
  const how = isStream ? 'streamed' : 'plain';

  for (const thinking of [{ type: 'enabled', budget_tokens: 1_024 }, { type: 'disabled' }] as const) {
    const asks = thinking.type === 'enabled' ? 'that asks for thoughts' : 'that asks for none';
    test(`WI-08 WI-09 a loop of tools by the vendor’s library ${asks}, ${how}`, async () => {
      const { asked } = scriptLoop(isStream);
      const client = new Anthropic({
        baseURL: service.url,
        apiKey: app.liveKey,
        defaultHeaders: headers,
        maxRetries: 0,
      });
      const messages: MessageParam[] = [{ role: 'user', content: 'How is Rome?' }];
      const tools = [{ name: 'weather', input_schema: SCHEMA }];
      const params = { model: 'large', max_tokens: 2_000, tools, thinking };
      const next = () =>
        isStream
          ? client.messages.stream({ ...params, messages }).finalMessage()
          : client.messages.create({ ...params, messages });
      const first = await next();
      assert.equal(first.stop_reason, 'tool_use');
      const results = first.content.flatMap((block): readonly ToolResultBlockParam[] =>
        block.type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: block.id, content: 'Sun.' }] : [],
      );
      messages.push({ role: 'assistant', content: first.content }, { role: 'user', content: [...results] });
      const last = await next();
      const types = last.content.map(({ type }) => type);
      assert.deepEqual(types, thinking.type === 'enabled' ? ['thinking', 'text'] : ['text']);
      assert.deepEqual([last.usage.input_tokens, last.usage.output_tokens], [20, 8]);
      assertWentBack(asked());
    });
  }

  test(`WI-08 WI-09 a loop of tools by the AI SDK, ${how}`, async () => {
    const { asked } = scriptLoop(isStream);
    const provider = createAnthropic({ baseURL: `${service.url}/v1`, apiKey: app.liveKey, headers });
    const weather = tool({ inputSchema: jsonSchema(SCHEMA), execute: () => 'Sun.' });
    const asking = {
      model: provider('large'),
      prompt: 'How is Rome?',
      tools: { weather },
      stopWhen: isStepCount(3),
      maxRetries: 0,
      maxOutputTokens: 2_000,
      providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 1_024 } } },
    } as const;
    const result = isStream ? streamText(asking) : await generateText(asking);
    assert.equal(await result.text, 'Sunny.');
    assert.equal(await result.reasoningText, 'I know.');
    const { inputTokens, outputTokens } = await result.totalUsage;
    assert.deepEqual([inputTokens, outputTokens], [40, 16]);
    assertWentBack(asked());
  });
}

test('WI-09 ER-02 answers of Messages carry the id that the vendor’s library shows', async () => {
  const client = new Anthropic({ baseURL: service.url, apiKey: app.liveKey, defaultHeaders: headers, maxRetries: 0 });
  const messages: MessageParam[] = [{ role: 'user', content: 'Hello' }];
  const params = { model: 'large', messages };
  const asks = [
    () => client.messages.create({ ...params, max_tokens: 10 }).withResponse(),
    () => client.messages.create({ ...params, max_tokens: 10, stream: true }).withResponse(),
    () => client.messages.countTokens(params).withResponse(),
  ];
  for (const [place, ask] of asks.entries()) {
    scriptLoop(place === 1);
    const { response, request_id: id } = await ask();
    assert.equal(id, response.headers.get('x-request-id'));
    assert.ok(id);
  }
  const refused = client.messages.create({ model: 'unheard-of', messages, max_tokens: 10 });
  await assert.rejects(refused, (failure: InstanceType<typeof Anthropic.APIError>) => {
    const { request_id: id } = failure.error as { readonly request_id: string };
    assert.equal(failure.requestID, id);
    return true;
  });
});
