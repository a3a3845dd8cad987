import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Claims, mergedClaims, personOf } from '#developers/sso/claims.ts';
import type { SsoSettings } from '#developers/sso/settings.ts';
import { Refusal } from '#kernel/faults/refusal.ts';

const SETTINGS: SsoSettings = {
  issuer: 'https://id.example.test',
  clientId: 'purser',
  clientSecret: 'secret',
  scopes: 'openid',
  roleClaim: 'groups',
  roles: new Map([
    ['look', 'viewer'],
    ['money', 'finance'],
    ['all', 'admin'],
  ]),
  required: undefined,
  name: 'Example ID',
  isOnly: false,
};

function person(claims: Claims, settings = SETTINGS) {
  const given = personOf({ sub: 'ann', ...claims }, settings);
  assert.ok(!(given instanceof Refusal), 'the person is let in');
  return given;
}

test('CP-07 the highest claimed role counts, and text is never split', () => {
  const roleOf = (groups: unknown) => person({ groups }).role;
  assert.equal(roleOf(['look', 'money', 'staff']), 'finance');
  assert.equal(roleOf(['all', 'look']), 'admin');
  assert.equal(roleOf('look'), 'viewer');
  for (const none of [undefined, null, [], '', 'look all', 'ALL', { all: true }, [['all']], 1, ['staff']]) {
    assert.equal(roleOf(none), undefined, JSON.stringify(none));
  }
  assert.equal(person({ groups: ['__proto__', 'constructor'] }).role, undefined);
});

function emailOf(email: unknown, isVerified: unknown) {
  return person({ email, email_verified: isVerified }).email;
}

test('CP-13 an e-mail is verified only by the boolean `true`', () => {
  assert.equal(emailOf('Ann@Example.test', true), 'ann@example.test');
  for (const isVerified of [false, 'true', 1, undefined, null])
    assert.equal(emailOf('a@b.test', isVerified), undefined);
  for (const email of [undefined, 'ann', 5, ['a@b.test']]) assert.equal(emailOf(email, true), undefined);
});

test('CP-13 an e-mail counts only if the verifying answer names it', () => {
  const theirs = { email: 'ann@b.test', email_verified: true };
  const emailIn = (signed: Claims, asked: Claims) => person(mergedClaims(signed, asked)).email;
  assert.equal(emailIn({}, theirs), 'ann@b.test');
  assert.equal(emailIn({ email: 'ann@b.test' }, theirs), 'ann@b.test');
  assert.equal(emailIn({ ...theirs, email: 'signed@b.test' }, { email: 'other@b.test' }), 'signed@b.test');
  assert.equal(emailIn({ email: 'boss@b.test' }, theirs), undefined);
  assert.equal(emailIn({ email_verified: true }, { email: 'boss@b.test' }), undefined);
  assert.equal(emailIn({ ...theirs, email_verified: false }, theirs), undefined);
  assert.equal(person(mergedClaims({ groups: ['look'] }, { groups: ['all'], sub: 'eve' })).role, 'viewer');
});

test('CP-06 a person without the required `amr` or `acr` is refused', () => {
  const strict = { ...SETTINGS, required: { claim: 'amr', values: ['mfa', 'hwk'] } } as const;
  assert.ok(person({ amr: ['pwd', 'mfa'] }, strict));
  for (const amr of [undefined, ['pwd'], 'pwd', []]) {
    const refusal = personOf({ sub: 'ann', amr, acr: 'mfa' }, strict);
    assert.ok(refusal instanceof Refusal && /`amr`: `mfa`, `hwk`/.test(refusal.message));
  }
  const byAcr = { ...SETTINGS, required: { claim: 'acr', values: ['gold'] } } as const;
  assert.ok(person({ acr: 'gold' }, byAcr));
});

test('CP-13 a subject has 1 to 255 ASCII characters', () => {
  for (const sub of [undefined, '', 'a'.repeat(256), 'änn', 'a\nb', 7]) {
    assert.ok(personOf({ sub }, SETTINGS) instanceof Refusal, String(sub));
  }
});
