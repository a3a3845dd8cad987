import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashing, hashPassword, isPassword } from '#developers/sign-in/password.ts';

const PASSWORD = 'correct horse battery';

test('CP-01 a password is stored at the OWASP recommended cost', async () => {
  const stored = await hashPassword(PASSWORD);
  assert.match(stored, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  assert.notEqual(await hashPassword(PASSWORD), stored);
  assert.equal(await isPassword(PASSWORD, stored), true);
  for (const [password, hash] of [
    ['wrong', stored],
    [PASSWORD, undefined],
    [PASSWORD, stored.replace('argon2id', 'argon2i')],
  ] as const) {
    assert.equal(await isPassword(password, hash), false);
  }
});

test('CP-01 a password hashed at another cost still matches', async () => {
  const { cost } = hashing;
  hashing.cost = { memory: 8, passes: 1, parallelism: 1 };
  const stored = await hashPassword(PASSWORD);
  hashing.cost = cost;
  assert.match(stored, /m=8,t=1,p=1/);
  assert.equal(await isPassword(PASSWORD, stored), true);
});
