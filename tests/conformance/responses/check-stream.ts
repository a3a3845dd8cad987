import assert from 'node:assert/strict';
import type { JsonObject } from '../../../packages/service/src/kernel/text/json.ts';

interface Following {
  readonly item: JsonObject;
  /** The deltas of each text, and whether it has ended, by the names that tell texts apart. */
  readonly texts: Map<string, string>;
}

const NUMBERED = [
  [/^response\.(?:content_part|output_text|refusal|reasoning_text)\./, 'content_index'],
  [/^response\.reasoning_summary_(?:part|text)\./, 'summary_index'],
] as const;
const LAST: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/** Asserts what holds for every stream of the wire, and returns its last Response. */
export function checkStream(sent: readonly JsonObject[]): JsonObject {
  const events = withoutError(sent);
  const open = new Map<number, Following>();
  const done: JsonObject[] = [];
  for (const [place, event] of events.entries()) {
    assert.equal(event['sequence_number'], place, 'the numbers have no gap');
    assert.equal(LAST.has(event['type']), place === events.length - 1, 'the last event is the last');
    follow(event, open, done);
  }
  assert.deepEqual(
    events.slice(0, 2).map(({ type }) => type),
    ['response.created', 'response.in_progress'],
  );
  const [first, last] = [responseOf(events[0]), responseOf(events.at(-1))];
  for (const name of ['id', 'model', 'created_at', 'tools', 'instructions', 'store'])
    assert.deepEqual(last[name], first[name]);
  if (last['status'] !== 'failed') {
    assert.equal(open.size, 0, 'all items have ended');
    assert.deepEqual(last['output'], done);
  }
  return last;
}

/** A failed stream ends with the same words as an error, which libraries raise. */
function withoutError(sent: readonly JsonObject[]): readonly JsonObject[] {
  const [last, error] = sent.slice(-2);
  if (last?.['type'] !== 'response.failed') return sent;
  assert.deepEqual([error?.['type'], error?.['sequence_number']], ['error', sent.length - 1]);
  const { message, correlationId } = responseOf(last)['error'] as JsonObject;
  const envelope = error?.['error'] as JsonObject;
  assert.deepEqual(
    [error?.['message'], envelope['message'], envelope['correlationId']],
    [message, message, correlationId],
  );
  return sent.slice(0, -1);
}

export function responseOf(event: JsonObject | undefined): JsonObject {
  return event?.['response'] as JsonObject;
}

function follow(event: JsonObject, open: Map<number, Following>, done: JsonObject[]): void {
  const type = String(event['type']);
  const index = Number(event['output_index']);
  if (type === 'response.output_item.added') {
    assert.equal(index, open.size + done.filter(Boolean).length, 'items are numbered in their order');
    open.set(index, { item: event['item'] as JsonObject, texts: new Map() });
    return;
  }
  if (event['output_index'] === undefined) return;
  const following = open.get(index);
  assert.ok(following, `${type} belongs to an open item`);
  if (type === 'response.output_item.done') {
    const item = event['item'] as JsonObject;
    assert.equal(item['id'], following.item['id']);
    assert.equal(item['type'], following.item['type']);
    done[index] = item;
    open.delete(index);
    return;
  }
  assert.equal(event['item_id'], following.item['id']);
  followText(event, type, following.texts);
}

function followText(event: JsonObject, type: string, texts: Map<string, string>): void {
  const number = NUMBERED.find(([types]) => types.test(type))?.[1];
  if (number !== undefined)
    assert.ok(Number.isInteger(event[number]), `${type} says which of its item's texts it is for`);
  const [, name = '', step = ''] = /^(.*)\.(delta|done)$/.exec(type) ?? [];
  const key = `${name} ${number === undefined ? '' : String(event[number])}`;
  if (step === 'delta') {
    const delta = String(event['delta']);
    assert.ok(Buffer.byteLength(JSON.stringify(event)) < 33_000, 'no line is too long for clients');
    texts.set(key, (texts.get(key) ?? '') + delta);
  } else if (step === 'done' && event['part'] === undefined) {
    const whole = event['text'] ?? event['refusal'] ?? event['arguments'] ?? event['input'];
    assert.equal(whole, texts.get(key) ?? '', `${type} has all of its deltas`);
  }
}
