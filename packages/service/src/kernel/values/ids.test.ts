import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { newCallId, newCorrelationId, parseCorrelationId, parseEndUserId } from '#kernel/values/ids.ts';
import { anyCharacter } from '../../../../../tests/support/any-character.ts';

const CHARACTERS = Array.from({ length: 0x180 }, (_, code) => String.fromCodePoint(code));

test('AU-04 a user has only visible ASCII characters', () => {
  for (const character of CHARACTERS) {
    const isVisible = character >= '!' && character <= '~';
    assert.equal(parseEndUserId(character) !== undefined, isVisible, JSON.stringify(character));
    assert.equal(parseEndUserId(`a${character}b`) !== undefined, isVisible, JSON.stringify(character));
  }
});

test('AU-04 a user has 1 to 256 characters', () => {
  for (const [length, isTaken] of [
    [0, false],
    [1, true],
    [256, true],
    [257, false],
    [10_000, false],
  ] as const) {
    const text = 'x'.repeat(length);
    assert.equal(parseEndUserId(text), isTaken ? text : undefined);
  }
  assert.equal(parseEndUserId('a\n'), undefined);
  assert.equal(parseEndUserId('Ünï'), undefined);
});

test('ER-02 a correlation id has only letters, digits and four signs', () => {
  const taken = CHARACTERS.filter((character) => parseCorrelationId(character) !== undefined);
  assert.equal(taken.join(''), '-.0123456789:ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz');
});

test('ER-02 a correlation id has 1 to 128 characters', () => {
  for (const [length, isTaken] of [
    [0, false],
    [1, true],
    [128, true],
    [129, false],
  ] as const) {
    assert.equal(parseCorrelationId('x'.repeat(length)) !== undefined, isTaken);
  }
  assert.equal(parseCorrelationId('a\n'), undefined);
});

test('ER-02 our own correlation ids are valid from callers', () => {
  for (let count = 0; count < 100; count += 1) {
    const id = newCorrelationId();
    assert.equal(parseCorrelationId(id), id);
  }
});

test('ER-02 call ids are UUIDs that sort by creation', () => {
  const ids = Array.from({ length: 1_000 }, newCallId);
  for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(new Set(ids).size, ids.length);
  const times = ids.map((id) => id.slice(0, 13));
  assert.deepEqual(times, times.toSorted());
});

test('AU-04 an accepted user stays as sent, bytewise', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 300 }), (text) => {
      const taken = parseEndUserId(text);
      assert.ok(taken === undefined || taken === text);
    }),
  );
});
