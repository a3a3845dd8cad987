import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSealedIds } from '#gateway/wires/responses/conversation/sealed-ids.ts';
import { appIdFrom, type Mode, parseEndUserId } from '#kernel/values/ids.ts';
import { createKeys, keptKeysBy } from '#kernel/crypto/keys.ts';

function sealedIdsOf(byte: number) {
  return createSealedIds(
    createKeys(
      { secret: Buffer.alloc(32, byte) },
      keptKeysBy(() => Buffer.alloc(32, byte)),
    ),
  );
}

function ownerOf(app: string, user: string, mode: Mode = 'live') {
  const userId = parseEndUserId(user);
  assert.ok(userId !== undefined);
  return { appId: appIdFrom(app), mode, userId };
}

const ids = sealedIdsOf(1);
const anna = ownerOf('notes', 'anna');
const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Grüße' }] };

test('WI-05 an id carries its item, under the prefix of its kind', () => {
  for (const [prefix, item] of [
    ['msg_', message],
    ['rs_', { type: 'reasoning', summary: [], encrypted_content: 'opaque' }],
    ['fc_', { type: 'function_call', name: 'look', arguments: '{}', call_id: 'call_1' }],
    ['ctc_', { type: 'custom_tool_call', name: 'exec', input: 'ls', call_id: 'call_2' }],
  ] as const) {
    const id = ids.ofItem(item, anna) ?? '';
    assert.ok(id.startsWith(prefix), id);
    assert.match(id, /^[a-z]+_[A-Za-z0-9_-]{64,}$/);
    assert.deepEqual(ids.open(id, anna)?.item, item);
  }
});

test('WI-05 a carrier has the items of a stream by their short ids', () => {
  const items = { msg_a: message, rs_b: { type: 'reasoning', summary: [] } };
  const id = ids.ofItems(items, anna) ?? '';
  assert.ok(id.startsWith('rs_'));
  assert.deepEqual(ids.open(id, anna)?.items, items);
});

test('WI-05 a sealed text opens for its own user, app, mode, use and service only', () => {
  const id = ids.ofItem(message, anna) ?? '';
  const details = [{ type: 'reasoning.text', text: 'Hm.', signature: 's' }];
  const content = ids.ofThoughts(details, anna) ?? '';
  assert.deepEqual(ids.openThoughts(content, anna)?.details, details);
  for (const other of [ownerOf('notes', 'ben'), ownerOf('maps', 'anna'), ownerOf('notes', 'anna', 'sandbox')]) {
    assert.equal(ids.open(id, other), undefined);
    assert.equal(ids.openThoughts(content, other), undefined);
  }
  assert.equal(sealedIdsOf(2).open(id, anna), undefined);
  assert.equal(ids.openThoughts(id.replace('msg_', 'purser.'), anna), undefined);
  assert.equal(ids.open(content.replace('purser.', 'rs_'), anna), undefined);
});

test('WI-05 an altered, shortened or foreign id opens to nothing', () => {
  const id = ids.ofItem(message, anna) ?? '';
  for (let at = 4; at < id.length; at += 7) {
    const altered = id.slice(0, at) + (id[at] === 'A' ? 'B' : 'A') + id.slice(at + 1);
    assert.equal(ids.open(altered, anna), undefined, `changed at ${at}`);
  }
  for (const foreign of [
    '',
    'msg_',
    'msg_67c9fdcecf488190bdd9a0409de3a1ec07b8b0ad4e5eb654',
    id.slice(0, -1),
    id.slice(4),
    `${id}=`,
    `${id} `,
    `msg_${'A'.repeat(1_000_000)}`,
    `msg_${'é'.repeat(100)}`,
  ]) {
    assert.equal(ids.open(foreign, anna), undefined, foreign.slice(0, 80));
  }
});

function repeating(characters: number) {
  return { type: 'message', content: 'a'.repeat(characters) };
}

test('WI-05 what is too large for an id has none, however well it is compressed', () => {
  const long = ids.ofItem(repeating(2_000_000), anna) ?? '';
  assert.ok(long.length < 20_000, `${long.length} characters`);
  assert.deepEqual(ids.open(long, anna)?.item, repeating(2_000_000));
  assert.equal(ids.ofItem(repeating(3_000_000), anna), undefined);
  const noise = Array.from({ length: 80_000 }, (_, at) => Math.sin(at)).join('');
  assert.equal(ids.ofItem({ type: 'message', content: noise }, anna)?.length, undefined, 'longer than 512 KiB');
});
