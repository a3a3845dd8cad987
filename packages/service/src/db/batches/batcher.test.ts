import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { createBatcher, inOrderOf } from '#db/batches/batcher.ts';
import type { CallId } from '#kernel/values/ids.ts';

/** A database error with this SQLSTATE, as the driver makes it. */
function databaseError(code: string): pg.DatabaseError {
  const error = new pg.DatabaseError('made by a test', 0, 'error');
  error.code = code;
  return error;
}

const double = async (items: readonly number[]): Promise<readonly number[]> => items.map((item) => item * 2);

test('WA-07 items arriving while a statement runs share the next one', async () => {
  const batches: (readonly number[])[] = [];
  const batcher = createBatcher<number, number>({
    run: async (items) => {
      batches.push(items);
      return double(items);
    },
    itemsMax: 3,
    retriesMax: () => 0,
  });
  const first = batcher.submit(1);
  await Promise.resolve();
  await Promise.resolve();
  assert.deepEqual(await Promise.all([first, ...[2, 3, 4, 5].map(batcher.submit)]), [2, 4, 6, 8, 10]);
  assert.deepEqual(batches, [[1], [2, 3, 4], [5]]);
});

test('WA-07 an item submitted after a result is answered', async () => {
  const batcher = createBatcher<number, number>({ run: double, itemsMax: 8, retriesMax: () => 0 });
  for (let turns = 0; turns < 12; turns += 1) {
    await batcher.submit(1);
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    assert.equal(await batcher.submit(2), 4);
  }
});

test('WA-07 an item that can never succeed fails alone', async () => {
  const batcher = createBatcher<number, number>({
    run: async (items) => {
      if (items.includes(13)) throw databaseError('23505');
      return double(items);
    },
    itemsMax: 8,
    retriesMax: () => Number.POSITIVE_INFINITY,
  });
  const [one, bad, two] = await Promise.allSettled([1, 13, 2].map(batcher.submit));
  assert.deepEqual(one, { status: 'fulfilled', value: 2 });
  assert.equal(bad?.status, 'rejected');
  assert.deepEqual(two, { status: 'fulfilled', value: 4 });
});

for (const [what, code] of [
  ['a server that turned read-only', '25006'],
  ['a full disk', '53100'],
  ['a privilege that is missing for a moment', '42501'],
  ['a locked row', '55P03'],
  ['a server that is shutting down', '57P01'],
] as const) {
  test(`WA-17 the batcher waits out ${what}`, async () => {
    let failures = 3;
    const batcher = createBatcher<number, number>({
      run: async (items) => {
        failures -= 1;
        if (failures >= 0) throw databaseError(code);
        return double(items);
      },
      itemsMax: 8,
      retriesMax: () => 5,
    });
    assert.deepEqual(await Promise.all([1, 2].map(batcher.submit)), [2, 4]);
  });
}

for (const [who, retriesMax, answers] of [
  ['reported at once to a submitter with limited retries', 5, 0],
  ['waited out for a submitter with unlimited retries', Number.POSITIVE_INFINITY, 1],
] as const) {
  test(`WA-17 a server that was silent for seconds is ${who}`, async () => {
    let tries = 0;
    const batcher = createBatcher<number, number>({
      run: async (items) => {
        tries += 1;
        if (tries === 1) throw new Error('Query read timeout');
        return double(items);
      },
      itemsMax: 8,
      retriesMax: () => retriesMax,
    });
    const [answer] = await Promise.allSettled([batcher.submit(1)]);
    assert.deepEqual([answer?.status, tries], answers === 1 ? ['fulfilled', 2] : ['rejected', 1]);
  });
}

test('WA-17 with limited retries, a lasting error is reported', async () => {
  const batcher = createBatcher<number, number>({
    run: async () => {
      throw databaseError('57P01');
    },
    itemsMax: 8,
    retriesMax: () => 2,
  });
  await assert.rejects(batcher.submit(1), /made by a test/);
});

test('WA-17 items behind a stuck resource are not tried one by one', async () => {
  const tried: string[] = [];
  const batcher = createBatcher<string, string>({
    run: async (items) => {
      tried.push(items.join(' '));
      if (items.some((item) => item.startsWith('stuck'))) throw databaseError('55P03');
      return items;
    },
    itemsMax: 8,
    retriesMax: () => 1,
    resourceOf: (item) => item.split('-')[0] ?? '',
  });
  const answers = await Promise.allSettled(['stuck-1', 'stuck-2', 'stuck-3', 'free-1'].map(batcher.submit));
  assert.deepEqual(
    answers.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected', 'fulfilled'],
  );
  const first = ['stuck-1 stuck-2 stuck-3 free-1', 'stuck-1', 'free-1'];
  assert.deepEqual(tried, [...first, 'stuck-1 stuck-2 stuck-3', 'stuck-2 stuck-3']);
});

const itemOf = (id: string) => ({ callId: id as CallId });
const rowOf = (id: string) => ({ call_id: id as CallId });

test('WA-07 each item gets its own row, in any row order', () => {
  const items = ['a', 'b', 'c'].map(itemOf);
  const rows = ['a', 'b', 'c'].map(rowOf);
  for (const order of ['abc', 'acb', 'bac', 'cab', 'cba']) {
    assert.deepEqual(inOrderOf(items, order.split('').map(rowOf)), rows, order);
  }
  for (const wrong of ['ab', 'abb', 'abd', 'abcd']) {
    assert.throws(() => inOrderOf(items, wrong.split('').map(rowOf)), /Assertion failed/, wrong);
  }
});

test('WA-17 items of a stuck resource do not hold up others', async () => {
  const tried: string[] = [];
  let isHeld = true;
  const batcher = createBatcher<string, string>({
    run: async (items) => {
      tried.push(items.join(' '));
      if (isHeld && items.some((item) => item.startsWith('stuck'))) throw databaseError('55P03');
      return items;
    },
    itemsMax: 2,
    retriesMax: () => Number.POSITIVE_INFINITY,
    resourceOf: (item) => item.split('-')[0] ?? '',
  });
  const stuck = ['stuck-1', 'stuck-2'].map(batcher.submit);
  await batcher.submit('free-1');
  stuck.push(batcher.submit('stuck-3'));
  await Promise.all(['free-2', 'free-3'].map(batcher.submit));
  assert.deepEqual(tried, ['stuck-1 stuck-2', 'stuck-1', 'free-1', 'free-2 free-3']);
  isHeld = false;
  assert.deepEqual(await Promise.all(stuck), ['stuck-1', 'stuck-2', 'stuck-3']);
  assert.deepEqual(tried.slice(4), ['stuck-1 stuck-2', 'stuck-3'], 'no statement takes more items than any other');
});

test('WA-17 an outage during one-by-one tries makes the rest wait together', async () => {
  const faults = ['55P03', '57P01', '57P01'];
  const tried: string[] = [];
  const batcher = createBatcher<string, string>({
    run: async (items) => {
      tried.push(items.join(' '));
      const code = faults.shift();
      if (code !== undefined) throw databaseError(code);
      return items;
    },
    itemsMax: 8,
    retriesMax: () => 5,
  });
  assert.deepEqual(await Promise.all(['one', 'two', 'three'].map(batcher.submit)), ['one', 'two', 'three']);
  assert.deepEqual(tried, ['one two three', 'one', 'one two three', 'one two three']);
});

test('WA-17 tries of a stuck resource become rare, within limited retries', async () => {
  let tries = 0;
  const batcher = createBatcher<string, string>({
    run: async () => {
      tries += 1;
      throw databaseError('55P03');
    },
    itemsMax: 8,
    retriesMax: () => 5,
    resourceOf: (item) => item,
  });
  await assert.rejects(batcher.submit('stuck'), /made by a test/);
  assert.equal(tries, 4, 'at once, and after pauses of 100, 200 and 400 ms, which count as seven retries');
});
