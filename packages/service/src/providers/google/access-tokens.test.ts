import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AccessToken, keepAccessToken } from '#providers/google/access-tokens.ts';

const HOUR = 3_600_000;

/** A clock, an endpoint that issues tokens of one hour and can fail, and what keeps its tokens. */
function stage() {
  const state = { now: 0, issued: 0, fails: false };
  const fetchToken = async (): Promise<AccessToken> => {
    state.issued += 1;
    if (state.fails) throw new Error('no token');
    return { token: `token-${state.issued}`, expiresAt: state.now + HOUR };
  };
  return { state, tokens: keepAccessToken(fetchToken, { nowMs: () => state.now }) };
}

test('MO-09 concurrent calls share one fetched access token', async () => {
  const { state, tokens } = stage();
  assert.deepEqual(await Promise.all([tokens.current(), tokens.current()]), ['token-1', 'token-1']);
  state.now = HOUR - 6 * 60_000;
  assert.equal(await tokens.current(), 'token-1');
  assert.equal(state.issued, 1);
});

test('MO-09 an access token is renewed early without delaying calls', async () => {
  const { state, tokens } = stage();
  await tokens.current();
  state.now = HOUR - 4 * 60_000;
  state.fails = true;
  assert.equal(await tokens.current(), 'token-1');
  await new Promise(setImmediate);
  assert.equal(await tokens.current(), 'token-1');
  assert.equal(state.issued, 2, 'the next try waits');
  state.now += 5_000;
  state.fails = false;
  assert.equal(await tokens.current(), 'token-1');
  await new Promise(setImmediate);
  assert.equal(await tokens.current(), 'token-3');
});

test('MO-09 an expired token is never sent', async () => {
  const { state, tokens } = stage();
  await tokens.current();
  state.now = HOUR - 9_000;
  assert.equal(await tokens.current(), 'token-2');
  state.now += HOUR;
  state.fails = true;
  await assert.rejects(tokens.current(), /no token/);
  state.fails = false;
  assert.equal(await tokens.current(), 'token-4');
});

test('MO-09 a refused token is replaced once', async () => {
  const { tokens } = stage();
  assert.equal(await tokens.current(), 'token-1');
  tokens.drop('token-1');
  assert.equal(await tokens.current(), 'token-2');
  tokens.drop('token-1');
  assert.equal(await tokens.current(), 'token-2');
});
