import assert from 'node:assert/strict';
import type { JsonObject } from '../../../packages/service/src/kernel/text/json.ts';

const STREAM_BYTES_MAX = 33_000;
const MEMBERS: Readonly<Record<string, string>> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  input_json_delta: 'partial_json',
};

/** Asserts what holds for every stream of Messages, and returns the Message that its clients make of it. */
export function joinStream(events: readonly JsonObject[]): JsonObject {
  const [first, ...rest] = events.filter(({ type }) => type !== 'ping');
  assert.equal(first?.['type'], 'message_start');
  let message = first['message'] as JsonObject;
  const content: JsonObject[] = [];
  let [isOpen, hasEnded] = [false, false];
  for (const event of rest) {
    const { type, index, delta, content_block: block } = event;
    assert.ok(!hasEnded, 'nothing comes behind the end');
    assert.ok(Buffer.byteLength(JSON.stringify(event)) < STREAM_BYTES_MAX, 'no line is too long for clients');
    if (type === 'content_block_start') {
      assert.ok(!isOpen, 'a block begins behind the end of the one before');
      assert.equal(index, content.length, 'blocks are numbered in their order');
      content.push({ ...(block as JsonObject), partial_json: '' });
      isOpen = true;
    } else if (type === 'content_block_delta' || type === 'content_block_stop') {
      assert.ok(isOpen);
      assert.equal(index, content.length - 1, 'the newest block is the open one');
      if (type === 'content_block_stop') isOpen = false;
      else content.push(addDelta(content.pop() ?? {}, delta as JsonObject));
    } else if (type === 'message_delta') {
      assert.ok(!isOpen, 'all blocks have ended');
      message = { ...message, ...(delta as JsonObject), usage: event['usage'] };
    } else {
      assert.equal(type, 'message_stop');
      hasEnded = true;
    }
  }
  assert.ok(hasEnded);
  return { ...message, content: content.map(({ partial_json: json, ...block }) => withInput(block, String(json))) };
}

function addDelta(block: JsonObject, delta: JsonObject): JsonObject {
  const type = String(delta['type']);
  if (type === 'signature_delta') return { ...block, signature: delta['signature'] };
  if (type === 'citations_delta') {
    const before = (block['citations'] ?? []) as readonly JsonObject[];
    return { ...block, citations: [...before, delta['citation']] };
  }
  const member = MEMBERS[type];
  assert.ok(member, `${type} is a delta of the wire`);
  const [before = '', more] = [block[member], delta[member]];
  assert.ok(typeof before === 'string' && typeof more === 'string');
  return { ...block, [member]: before + more };
}

/** The arguments as a text if they are no JSON. */
function withInput(block: JsonObject, json: string): JsonObject {
  if (block['type'] !== 'tool_use' || json === '') return block;
  try {
    return { ...block, input: JSON.parse(json) as unknown };
  } catch {
    return { ...block, input: json };
  }
}
