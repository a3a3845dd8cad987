import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { digestOfApiKey, hintOfApiKey, isApiKey, modeOfApiKey, newApiKey } from '#developers/keys/key-text.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Characters that a header can carry, and some that it cannot. */
const OTHERS = `${BASE62}_-.~+/=!#$%&'*^|{}"(),:;<>?@[]\\ é`;
const MODES = ['live', 'sandbox'] as const;

test('AU-07 a new key is its mode’s prefix plus 36 base62 characters', () => {
  assert.match(newApiKey('live'), /^svc_live_[0-9A-Za-z]{36}$/);
  assert.match(newApiKey('sandbox'), /^svc_test_[0-9A-Za-z]{36}$/);
  for (const mode of MODES) assert.equal(modeOfApiKey(newApiKey(mode)), mode);
});

test('AU-08 new keys are well formed and unique', () => {
  const keys = Array.from({ length: 2_000 }, () => newApiKey('live'));
  assert.ok(keys.every(isApiKey));
  assert.equal(new Set(keys).size, keys.length);
  // Among 60,000 random characters, the chance that one of 62 never occurs is practically zero.
  assert.equal(new Set(keys.flatMap((key) => key.slice(9, 39).split(''))).size, 62);
});

test('AU-08 the checksum is the CRC-32 of the text before it', () => {
  const key = newApiKey('sandbox');
  const sum = Array.from(key.slice(-6)).reduce((value, character) => value * 62 + BASE62.indexOf(character), 0);
  assert.equal(sum, crc32(key.slice(0, -6)));
});

test('AU-08 a key with any one character changed is refused', () => {
  for (const mode of MODES) {
    const key = newApiKey(mode);
    for (let index = 0; index < key.length; index += 1) {
      for (const other of OTHERS) {
        if (other === key[index]) continue;
        const changed = key.slice(0, index) + other + key.slice(index + 1);
        assert.equal(isApiKey(changed), false, changed);
      }
    }
  }
});

test('AU-08 a key with a lost, added or swapped character is refused', () => {
  const key = newApiKey('live');
  for (let index = 0; index <= key.length; index += 1) {
    assert.equal(isApiKey(`${key.slice(0, index)}A${key.slice(index)}`), false);
    if (index < key.length) assert.equal(isApiKey(key.slice(0, index) + key.slice(index + 1)), false);
    const [left = '', right = ''] = key.slice(index, index + 2);
    if (left !== right && right !== '') {
      assert.equal(isApiKey(key.slice(0, index) + right + left + key.slice(index + 2)), false);
    }
  }
});

test('AU-07 changing the prefix does not make a test key live', () => {
  assert.equal(isApiKey(newApiKey('sandbox').replace('test', 'live')), false);
  assert.equal(isApiKey(newApiKey('live').replace('live', 'test')), false);
});

test('AU-08 text that merely resembles a key is refused', () => {
  const key = newApiKey('live');
  for (const text of [
    '',
    'svc_live_',
    ` ${key}`,
    `${key} `,
    `${key}\n`,
    key.toUpperCase(),
    `${key}${key}`,
    'x'.repeat(45),
  ]) {
    assert.equal(isApiKey(text), false, JSON.stringify(text));
  }
});

test('AU-08 the SHA-256 of the whole key is stored', () => {
  const key = newApiKey('live');
  assert.deepEqual(digestOfApiKey(key), createHash('sha256').update(key, 'utf8').digest());
});

test('CP-03 a key’s hint is its prefix and last four characters', () => {
  const key = newApiKey('sandbox');
  assert.equal(hintOfApiKey(key), `svc_test_...${key.slice(-4)}`);
});
