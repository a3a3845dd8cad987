import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from './api-error.ts';
import { parseChatRequest } from './chat-request.ts';

const user = { role: 'user', content: 'Hello.' };
const valid = { model: 'sim-echo', messages: [user] };
const tool = { type: 'function', function: { name: 'get_time', parameters: {} } };

function faultOf(body: string): ApiError['facts'] | undefined {
  try {
    parseChatRequest(body);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    return error.facts;
  }
}

test('OP-01 a malformed request is a 400 that names the field', () => {
  const cases: readonly (readonly [object, string])[] = [
    [{ model: undefined }, 'model'],
    [{ model: 7 }, 'model'],
    [{ messages: null }, 'messages'],
    [{ messages: [] }, 'messages'],
    [{ messages: ['Hello.'] }, 'messages[0]'],
    [{ messages: [{ role: 'captain', content: '' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'user' }] }, 'messages[0].content'],
    [{ messages: [{ role: 'tool', content: '' }] }, 'messages[0].tool_call_id'],
    [{ messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }, 'messages[0].content[0].image_url'],
    [{ messages: [{ role: 'user', content: [{ type: 'smell' }] }] }, 'messages[0].content[0].type'],
    [{ messages: [{ role: 'assistant', tool_calls: [{ id: 'a' }] }] }, 'messages[0].tool_calls[0].function'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ max_completion_tokens: 1.5 }, 'max_completion_tokens'],
    [{ n: 129 }, 'n'],
    [{ stream: 'yes' }, 'stream'],
    [{ stream_options: { include_usage: true } }, 'stream_options'],
    [{ stop: [''] }, 'stop[0]'],
    [{ stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop'],
    [{ temperature: 3 }, 'temperature'],
    [{ tools: [{ type: 'custom' }] }, 'tools[0].type'],
    [{ tools: [{ type: 'function', function: { name: 'a b' } }] }, 'tools[0].function.name'],
    [{ tool_choice: 'required' }, 'tool_choice'],
    [{ tools: [tool], tool_choice: { type: 'function', function: { name: 'other' } } }, 'tool_choice.function.name'],
    [{ response_format: { type: 'xml' } }, 'response_format.type'],
    [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
    [{ top_logprobs: 3 }, 'top_logprobs'],
    [{ logprobs: true, top_logprobs: 21 }, 'top_logprobs'],
  ];
  for (const [change, param] of cases) {
    const fault = faultOf(JSON.stringify({ ...valid, ...change }));
    assert.equal(fault?.status, 400, param);
    assert.equal(fault?.param, param);
  }
});

test('OP-01 a body that is not a JSON object is a 400', () => {
  for (const body of ['', '{', 'null', '[]', '7', '"text"', '['.repeat(1_000_000)])
    assert.equal(faultOf(body)?.status, 400);
  const deep = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`;
  assert.match(faultOf(`{"model":"sim-echo","x":${deep}}`)?.message ?? '', /nested deeper/);
});

test('OP-01 null is the same as absent', () => {
  const nulls = {
    n: null,
    stop: null,
    stream: null,
    stream_options: null,
    tools: null,
    tool_choice: null,
    temperature: null,
  };
  const more = {
    response_format: null,
    logprobs: null,
    top_logprobs: null,
    max_tokens: null,
    parallel_tool_calls: null,
  };
  assert.deepEqual(
    parseChatRequest(JSON.stringify({ ...valid, ...nulls, ...more })),
    parseChatRequest(JSON.stringify(valid)),
  );
});
