import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Decimal } from '#price-lists/decimal.ts';
import { type Evidence, judge } from '#price-lists/judge.ts';
import type { ListedModel } from '#price-lists/models-dev.ts';
import type { RateCard, Rates } from '#price-lists/rate-card.ts';

const ONE: Decimal = { digits: 1n, scale: 0 };

function card(base: Rates, ...tiers: readonly (readonly [number, Rates])[]): RateCard {
  return [
    { aboveInputTokens: 0, rates: base },
    ...tiers.map(([aboveInputTokens, rates]) => ({ aboveInputTokens, rates })),
  ];
}

function listed(price: RateCard): ListedModel {
  return {
    card: price,
    faults: [],
    notes: [],
    contextTokens: undefined,
    outputTokens: undefined,
    isResponsesOnly: false,
  };
}

function judged(
  old: RateCard | undefined,
  first: RateCard,
  second: RateCard | undefined,
  more: Partial<Evidence> = {},
) {
  return judge({
    old: { card: old, others: [] },
    listed: listed(first),
    second: second === undefined ? undefined : { name: 'acme/m', card: second, others: [] },
    exchangeRate: ONE,
    isUnchecked: false,
    ...more,
  });
}

const PRICE = card({ input: 400_000n, cachedInput: 100_000n, output: 1_600_000n });

test('MO-10 a price in both lists is a change unless equal', () => {
  const old = card({ input: 500_000n, output: 1_600_000n });
  const change = judged(old, PRICE, PRICE);
  assert.deepEqual([change.verdict, change.card, change.faults], ['change', PRICE, []]);
  assert.deepEqual(change.rows, [
    { words: 'input', old: 500_000n, listed: 400_000n, second: 400_000n, next: 400_000n },
    { words: 'cached input', old: undefined, listed: 100_000n, second: 100_000n, next: 100_000n },
    { words: 'output', old: 1_600_000n, listed: 1_600_000n, second: 1_600_000n, next: 1_600_000n },
  ]);
  assert.equal(judged(PRICE, PRICE, PRICE).verdict, 'same');
  assert.equal(judged(undefined, PRICE, PRICE).verdict, 'change');
});

const REFUSED: readonly (readonly [string, RateCard | undefined, RateCard, RateCard | undefined, RegExp])[] = [
  ['that the second list does not have', PRICE, PRICE, undefined, /does not know this model/],
  [
    'that the second list has otherwise',
    PRICE,
    PRICE,
    card({ input: 410_000n, output: 1_600_000n }),
    /^input: .*0\.40 .*0\.41$/,
  ],
  ['of another unit', PRICE, PRICE, card({ input: 400n, output: 1_600_000n }), /another unit/],
  [
    'that jumps by 1,000',
    card({ input: 400n, output: 1_600_000n }),
    PRICE,
    PRICE,
    /input would jump from 0\.0004 to 0\.40/,
  ],
  ['that falls by 100', card({ input: 40_000_000n, output: 1_600_000n }), PRICE, PRICE, /as if the unit had changed/],
  [
    'without a dearer rate of the second list',
    PRICE,
    PRICE,
    card({ ...PRICE[0].rates, audioInput: 9_000_000n }),
    /^audio input is not in the list/,
  ],
  [
    'with a dearer rate of its own',
    PRICE,
    card({ ...PRICE[0].rates, reasoning: 9_000_000n }),
    PRICE,
    /^reasoning is not in the second list/,
  ],
  [
    'without the tier of the second list',
    PRICE,
    PRICE,
    card(PRICE[0].rates, [200_000, { input: 800_000n, cachedInput: 100_000n, output: 1_600_000n }]),
    /^input above 200000 tokens: /,
  ],
];
for (const [name, old, first, second, expected] of REFUSED) {
  test(`MO-10 a listed price ${name} is refused`, () => {
    const { verdict, card: taken, faults } = judged(old, first, second);
    assert.deepEqual([verdict, taken], ['refused', undefined]);
    assert.match(faults.join('\n'), expected);
  });
}

test('MO-10 a person may waive the second list only', () => {
  assert.equal(judged(undefined, PRICE, undefined, { isUnchecked: true }).verdict, 'change');
  const tiny = card({ input: 400n, output: 1_600_000n });
  assert.equal(judged(tiny, PRICE, undefined, { isUnchecked: true }).verdict, 'refused');
});

test('MO-10 a difference of a hundredth is rounding', () => {
  assert.equal(
    judged(PRICE, PRICE, card({ input: 396_000n, cachedInput: 100_000n, output: 1_600_000n })).verdict,
    'same',
  );
});

test('MO-10 a cheaper rate in only one list is not taken', () => {
  const { verdict, card: taken, notes } = judged(undefined, PRICE, card({ input: 400_000n, output: 1_600_000n }));
  assert.deepEqual([verdict, taken], ['change', card({ input: 400_000n, output: 1_600_000n })]);
  assert.match(notes.join(), /cached input is not in the second list/);
});

test('MO-10 what only the catalogue has stays', () => {
  const old = card({ input: 500_000n, cachedInput: 500_000n, cacheWrite: 700_000n, output: 1_600_000n });
  const plain = card({ input: 400_000n, output: 1_600_000n });
  const { card: taken, notes } = judged(old, plain, plain);
  assert.deepEqual(taken, card({ input: 400_000n, cacheWrite: 700_000n, output: 1_600_000n }));
  assert.match(notes.join(), /cache write stays/);
});

test('MO-10 cached input spelled out at the input price changes nothing', () => {
  const plain = card({ input: 400_000n, output: 1_600_000n });
  const old = card({ input: 400_000n, cachedInput: 400_000n, cacheWrite: 400_000n, output: 1_600_000n });
  assert.equal(judged(old, plain, plain).verdict, 'same');
});

test('MO-10 a first cached input price is no jump, however low', () => {
  const cheap = card({ input: 400_000n, cachedInput: 4_000n, output: 1_600_000n });
  assert.equal(judged(card({ input: 400_000n, output: 1_600_000n }), cheap, cheap).verdict, 'change');
});

test('MO-10 each tier has every rate of the price', () => {
  const long = card(PRICE[0].rates, [200_000, { input: 800_000n, output: 3_200_000n }]);
  const { card: taken } = judged(PRICE, long, card(PRICE[0].rates, [200_000, { input: 800_000n, output: 3_200_000n }]));
  assert.deepEqual(taken?.[1], {
    aboveInputTokens: 200_000,
    rates: { input: 800_000n, cachedInput: 800_000n, output: 3_200_000n },
  });
  const more = judged(PRICE, long, long, { old: { card: PRICE, others: ['imageInputMicrosPerMillion'] } });
  assert.match(more.faults.join(), /add the tier by hand/);
});

test('MO-10 prices are compared in dollars, taken in the catalogue’s currency', () => {
  const { card: taken, rows } = judged(undefined, PRICE, PRICE, { exchangeRate: { digits: 925n, scale: 3 } });
  assert.deepEqual(taken, card({ input: 370_000n, cachedInput: 92_500n, output: 1_480_000n }));
  assert.equal(rows[0]?.second, 370_000n);
});
