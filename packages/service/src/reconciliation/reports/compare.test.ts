import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Movement, Subject } from '#payments/processor/movement.ts';
import { type Booked, compare, keyOf } from '#reconciliation/reports/compare.ts';
import { ownSumsOf, sumsOf } from '#reconciliation/reports/sums.ts';

const DAY = Date.UTC(2026, 9, 2, 10);

function movement(subject: Subject | undefined, id: string, amount: bigint, over: Partial<Movement> = {}): Movement {
  const isOut = subject === 'refund' || subject === 'dispute';
  const gross = isOut ? -amount : amount;
  return {
    line: 2,
    transaction: `txn_${id}`,
    category: subject ?? 'payout',
    subject,
    createdMs: DAY,
    currency: 'EUR',
    gross,
    fee: 10_000n,
    net: gross - 10_000n,
    source: `re_${id}`,
    payment: `pi_${id}`,
    paid: { amount, currency: 'EUR' },
    isOurs: undefined,
    ...over,
  };
}

function booked(kind: Booked['kind'], processorId: string, amount: bigint, over: Partial<Booked> = {}): Booked {
  const state = { payment: 'credited', refund: 'paid', movement: 'taken' }[kind];
  return { kind, processorId, paymentId: 'pay_1', amount, currency: 'EUR', atMs: DAY, state, ...over };
}

function compared(movements: readonly Movement[], books: readonly Booked[], filed: readonly [string, string][] = []) {
  const all = new Map(books.map((one) => [keyOf(one.kind, one.processorId), one]));
  return compare({ movements, booked: all, ofPeriod: books, filed: new Map(filed) });
}

test('CP-16 a report matching the books has no differences', () => {
  const movements = [
    movement('payment', '1', 25_000_000n),
    movement('refund', '2', 5_000_000n),
    movement('dispute', '3', 20_000_000n),
    movement('dispute returned', '4', 20_000_000n),
    movement(undefined, '5', 9_000_000n),
  ];
  const books = [
    booked('payment', 'pi_1', 25_000_000n),
    booked('refund', 're_2', 5_000_000n),
    booked('movement', 'txn_3', 20_000_000n),
    booked('movement', 'txn_4', 20_000_000n, { state: 'returned' }),
  ];
  const { differences, matched, foreign } = compared(movements, books);
  assert.deepEqual(differences, []);
  assert.deepEqual([...matched.keys()], ['txn_1', 'txn_2', 'txn_3', 'txn_4']);
  assert.equal(foreign, 0);
});

test('CP-16 each kind of difference is named, exact to the micro', () => {
  const late = Date.UTC(2026, 9, 3, 0, 0, 1);
  const cases: readonly (readonly [string, Movement[], Booked[], bigint | undefined])[] = [
    ['not_in_books', [movement('payment', '1', 25_000_000n)], [], 25_000_000n],
    ['not_in_books', [movement('refund', '1', 25_000_000n)], [], -25_000_000n],
    ['not_in_report', [], [booked('payment', 'pi_1', 25_000_000n)], -25_000_000n],
    ['not_in_report', [], [booked('refund', 're_1', 25_000_000n)], 25_000_000n],
    ['not_in_report', [], [booked('movement', 'txn_1', 7n)], 7n],
    ['amount', [movement('payment', '1', 25_000_000n)], [booked('payment', 'pi_1', 24_990_000n)], 10_000n],
    ['amount', [movement('refund', '1', 25_000_000n)], [booked('refund', 're_1', 24_990_000n)], -10_000n],
    ['currency', [movement('payment', '1', 25n)], [booked('payment', 'pi_1', 25n, { currency: 'USD' })], undefined],
    ['day', [movement('payment', '1', 25n)], [booked('payment', 'pi_1', 25n, { atMs: late })], 0n],
    ['state', [movement('failed refund', '1', 25n)], [booked('refund', 're_1', 25n)], 25n],
    ['state', [movement('dispute returned', '1', 25n)], [booked('movement', 'txn_1', 25n)], 25n],
  ];
  for (const [kind, movements, books, difference] of cases) {
    const { differences } = compared(movements, books);
    assert.deepEqual(
      differences.map((one) => [one.kind, one.difference]),
      [[kind, difference]],
      kind,
    );
  }
});

test('CP-16 a failed refund is two report lines, one book entry', () => {
  const failed = { source: 're_1', transaction: 'txn_9' };
  const movements = [movement('refund', '1', 5n), movement('failed refund', '1', 5n, failed)];
  assert.deepEqual(compared(movements, [booked('refund', 're_1', 5n, { state: 'declined' })]).differences, []);
});

test('CP-16 payments or refunds moved twice are differences', () => {
  const books = [booked('payment', 'pi_1', 5n), booked('refund', 're_2', 3n)];
  const [paid, refunded] = [movement('payment', '1', 5n), movement('refund', '2', 3n)];
  const again = [paid, refunded].map((one) => ({ ...one, transaction: `${one.transaction}_again` }));
  const twice: readonly (readonly [string, bigint | undefined, string | undefined])[] = [
    ['not_in_books', 5n, 'pay_1'],
    ['not_in_books', -3n, 'pay_1'],
  ];
  const found = (movements: readonly Movement[], filed: readonly [string, string][] = []) =>
    compared(movements, books, filed).differences.map(
      (one) => [one.kind, one.difference, one.paymentId] as [string, bigint, string],
    );
  assert.deepEqual(found([paid, refunded, ...again]), twice);
  assert.deepEqual(
    found(again, [
      ['txn_1', 'payment pi_1'],
      ['txn_2', 'refund re_2'],
    ]),
    twice,
  );
  const failed = movement('failed refund', '2', 3n, { transaction: 'txn_failed' });
  const declined = [booked('refund', 're_2', 3n, { state: 'declined' })];
  assert.deepEqual(compared([failed], declined, [['txn_2', 'refund re_2']]).differences, []);
});

/** The differences of a payment that moved there and here at these times, with their days. */
const daysOf = (there: number, here: number) =>
  compared(
    [movement('payment', '1', 5n, { createdMs: there })],
    [booked('payment', 'pi_1', 5n, { atMs: here })],
  ).differences.map((one) => [one.kind, one.there?.day, one.here?.day]);

test('CP-16 a movement belongs to its UTC day', () => {
  const [last, first] = [Date.UTC(2026, 9, 3) - 1, Date.UTC(2026, 9, 3)];
  assert.deepEqual(daysOf(last, first), [['day', '2026-10-02', '2026-10-03']]);
  assert.deepEqual(daysOf(first, first), []);
  assert.deepEqual(daysOf(last, last - 86_399_999), []);
});

test('CP-16 other software’s payments count, a missing one of ours differs', () => {
  const movements = [
    movement('payment', '1', 5n, { isOurs: false }),
    movement('payment', '2', 5n, { isOurs: true }),
    movement('payment', '3', 5n),
  ];
  const { differences, foreign } = compared(movements, []);
  assert.equal(foreign, 1);
  assert.deepEqual(
    differences.map(({ transaction }) => transaction),
    ['txn_2', 'txn_3'],
  );
});

test('CP-16 what an earlier report had is filed once', () => {
  const filed: [string, string][] = [['txn_1', 'payment pi_1']];
  const books = [booked('payment', 'pi_1', 5n)];
  assert.deepEqual(compared([], books, filed).differences, []);
  assert.deepEqual(
    compared([movement('payment', '1', 5n)], books, filed).differences.map(({ kind }) => kind),
    ['filed_before'],
  );
});

test('CP-16 sums are exact, by category and currency, with dispute fees', () => {
  const usd = { currency: 'USD', paid: { amount: 5n, currency: 'USD' } };
  const sums = sumsOf([
    movement('payment', '1', 9_007_199_254_740_000n, { fee: 0n, net: 9_007_199_254_740_000n }),
    movement('payment', '2', 991n, { fee: 0n, net: 991n }),
    movement('payment', '3', 5n, usd),
    movement('dispute', '4', 20_000_000n, { fee: 15_000_000n, net: -35_000_000n }),
  ]);
  assert.deepEqual(sums, [
    { category: 'dispute', currency: 'EUR', count: 1, gross: -20_000_000n, fee: 15_000_000n, net: -35_000_000n },
    { category: 'payment', currency: 'EUR', count: 2, gross: 2n ** 53n - 1n, fee: 0n, net: 2n ** 53n - 1n },
    { category: 'payment', currency: 'USD', count: 1, gross: 5n, fee: 10_000n, net: -9_995n },
  ]);
  assert.throws(
    () => sumsOf([movement('payment', '1', 2n ** 53n - 1n), movement('payment', '2', 1n)]),
    /more than can be counted/,
  );
  assert.deepEqual(ownSumsOf([booked('payment', 'pi_1', 5n), booked('payment', 'pi_2', 7n)]), [
    { what: 'payment credited', currency: 'EUR', count: 2, amount: 12n },
  ]);
});
