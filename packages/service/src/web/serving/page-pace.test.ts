import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createPace } from '#limits/pace.ts';
import { createPagePace } from '#web/serving/page-pace.ts';

function paces() {
  const clock = { nowMs: () => 0 };
  const of = (rateBurst: number) => createPace({ ratePerMinute: 60, rateBurst }, clock);
  return createPagePace({ forms: of(1), addresses: of(3), strangers: of(2), holders: of(1) });
}

test('CP-11 a refused page is held for a second, a granted one is not', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const pace = paces();
  for (let asked = 0; asked < 2; asked += 1) assert.equal(await pace.ofAddress('one', false), undefined);
  const refused = pace.ofAddress('one', false);
  t.mock.timers.tick(999);
  assert.equal(await Promise.race([refused, nextTurn('waits')]), 'waits');
  t.mock.timers.tick(1);
  assert.equal((await refused)?.code, 'TOO_MANY_REQUESTS');
  assert.equal(await pace.ofAddress('two', false), undefined);
});

test('CP-11 pages count for their holder, and made-up tokens as strangers', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const pace = paces();
  const codeOf = async (judged: ReturnType<typeof pace.ofHolder>) => {
    t.mock.timers.tick(1_000);
    return (await judged)?.code;
  };
  assert.equal(await codeOf(pace.ofHolder('one', 'account')), undefined);
  assert.equal(await codeOf(pace.ofHolder('two', 'account')), 'TOO_MANY_REQUESTS');
  assert.equal(await codeOf(pace.ofHolder('two', 'another')), undefined);
  for (let asked = 0; asked < 2; asked += 1) assert.equal(await codeOf(pace.ofHolder('one', undefined)), undefined);
  assert.equal(await codeOf(pace.ofHolder('one', undefined)), 'TOO_MANY_REQUESTS');
  assert.equal(await codeOf(pace.ofAddress('one', false)), 'TOO_MANY_REQUESTS');
  assert.equal(await codeOf(pace.ofAddress('one', true)), undefined);
});
