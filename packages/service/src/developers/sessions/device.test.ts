import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDevices } from '#developers/sessions/device.ts';
import { newAccountId } from '#kernel/values/ids.ts';
import { randomBytes } from '#kernel/crypto/random.ts';

const devices = createDevices([randomBytes(32)]);
const anna = { accountId: newAccountId(), passwordHash: '$argon2id$a' };

test('CP-01 a browser is known per account until the password changes', () => {
  const shown = devices.issue(anna);
  assert.equal(devices.nameOf(shown, anna), shown.split('.')[0]);
  assert.notEqual(devices.issue(anna), shown);
  for (const known of [{ ...anna, passwordHash: '$argon2id$b' }, { ...anna, accountId: newAccountId() }, undefined]) {
    assert.equal(devices.nameOf(shown, known), undefined);
  }
  assert.equal(createDevices([randomBytes(32)]).nameOf(shown, anna), undefined);
});

test('CP-01 a forged proof of earlier sign-in is ignored', () => {
  const shown = devices.issue(anna);
  const other = devices.issue(anna);
  const forged = [
    undefined,
    '',
    'x',
    `${other.split('.')[0]}.${shown.split('.')[1]}`,
    `${shown}A`,
    ` ${shown}`,
    `${shown.slice(0, 30)}${shown[30] === 'A' ? 'B' : 'A'}${shown.slice(31)}`,
  ];
  for (const one of forged) assert.equal(devices.nameOf(one, anna), undefined, String(one));
});
