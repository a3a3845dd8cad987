import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CatalogueModel } from '@purser/contract/catalogue.ts';
import { CatalogueFileError, parseCatalogueFile } from '#catalogue/catalogue-file.ts';
import { priceAt, pricesOf } from '#catalogue/price-row.ts';
import { readUpstreams, withPrices } from '#price-lists/priced-upstreams.ts';
import type { RateCard } from '#price-lists/rate-card.ts';

const COMMON = { resale: 'open', contextTokens: 1_000, maxOutputTokens: 100 };
const RATES = { inputMicrosPerMillion: 5, outputMicrosPerMillion: 9 };
const SHARED_PRICE = { ...RATES, microsPerSearch: 3, imageInputMicrosPerMillion: 6 };
const FILE = {
  providers: {
    acme: { kind: 'openai-compatible', baseUrl: 'https://api.acme.test/v1' },
    other: { kind: 'openai-compatible', baseUrl: 'https://api.other.test/v1' },
  },
  models: [
    { ...COMMON, id: 'acme.old', provider: 'acme', providerModel: 'old', price: RATES, cacheWriteMicrosPerMillion: 7 },
    { ...COMMON, id: 'acme.new', provider: 'acme', providerModel: 'new' },
    { ...COMMON, id: 'acme.free', provider: 'acme', providerModel: 'free', free: true },
    {
      ...COMMON,
      id: 'acme.two',
      searchesMax: 2,
      price: SHARED_PRICE,
      upstreams: [
        { provider: 'acme', providerModel: 'two' },
        { provider: 'other', providerModel: 'zwei', price: { ...RATES, microsPerCall: 4 } },
      ],
    },
  ],
};
const TEXT = JSON.stringify(FILE);
const CARD: RateCard = [
  { aboveInputTokens: 0, rates: { input: 50n, cachedInput: 5n, output: 90n } },
  { aboveInputTokens: 500, rates: { input: 100n, cachedInput: 10n, output: 180n } },
];
const PLAIN: RateCard = [{ aboveInputTokens: 0, rates: { input: 50n, output: 90n } }];

test('MO-10 each upstream is read with any price', () => {
  const upstreams = readUpstreams(TEXT);
  assert.deepEqual(
    upstreams.map(({ model, provider, isFree, old }) => [model, provider, isFree, old.card?.[0].rates, old.others]),
    [
      ['acme.old', 'acme', false, { input: 5n, cacheWrite: 7n, output: 9n }, []],
      ['acme.new', 'acme', false, undefined, []],
      ['acme.free', 'acme', true, undefined, []],
      ['acme.two', 'acme', false, { input: 5n, output: 9n }, ['imageInputMicrosPerMillion']],
      ['acme.two', 'other', false, { input: 5n, output: 9n }, []],
    ],
  );
});

test('MO-10 a catalogue file with another fault is refused', () => {
  assert.throws(() => readUpstreams(TEXT.replace('"acme.new"', '"new"')), /models\.1\.id/);
  assert.throws(() => readUpstreams('{'), /not valid JSON/);
});

function written(names: readonly string[], card: RateCard, from?: string) {
  const upstreams = readUpstreams(TEXT).filter(({ model, provider }) => names.includes(`${model} ${provider}`));
  return parseCatalogueFile(
    withPrices(
      TEXT,
      upstreams.map((upstream) => ({ upstream, card })),
      from,
    ),
  ).models;
}

test('MO-10 new prices are written in place, and everything else stays', () => {
  const [old, added, , two] = written(['acme.old acme', 'acme.new acme', 'acme.two other'], CARD);
  const price = {
    inputMicrosPerMillion: 50,
    cachedInputMicrosPerMillion: 5,
    outputMicrosPerMillion: 90,
    tiers: [
      {
        aboveInputTokens: 500,
        inputMicrosPerMillion: 100,
        cachedInputMicrosPerMillion: 10,
        outputMicrosPerMillion: 180,
      },
    ],
  };
  assert.deepEqual([old?.price, old?.cacheWriteMicrosPerMillion, added?.price], [price, undefined, price]);
  assert.deepEqual(two?.price, SHARED_PRICE);
  assert.deepEqual(two?.upstreams?.[0], { provider: 'acme', providerModel: 'two' });
  assert.deepEqual(two?.upstreams?.[1]?.price, { ...price, microsPerCall: 4 });
});

test('MO-10 an upstream on its model’s price gets its own', () => {
  const [, , , two] = written(['acme.new acme', 'acme.two acme'], PLAIN);
  assert.deepEqual(two?.upstreams?.[0]?.price, {
    inputMicrosPerMillion: 50,
    imageInputMicrosPerMillion: 6,
    outputMicrosPerMillion: 90,
    microsPerSearch: 3,
  });
});

test('MO-10 a price for later leaves the present one in force', () => {
  const from = '2030-01-01T00:00:00Z';
  const [old, added, , two] = written(['acme.old acme', 'acme.new acme', 'acme.two acme'], PLAIN, from);
  const price = { inputMicrosPerMillion: 50, outputMicrosPerMillion: 90 };
  assert.deepEqual([old?.price, old?.cacheWriteMicrosPerMillion, old?.priceChanges], [RATES, 7, [{ from, price }]]);
  assert.deepEqual([added?.price, added?.priceChanges], [price, undefined]); // It had none that could stay in force.
  assert.deepEqual(two?.upstreams?.[0]?.price, SHARED_PRICE);
  assert.equal(two?.upstreams?.[0]?.priceChanges?.length, 1);
});

test('MO-10 a model without a complete price stays refused', () => {
  const [upstream] = readUpstreams(TEXT);
  assert.ok(upstream !== undefined);
  const write = () => withPrices(TEXT, [{ upstream, card: PLAIN }], undefined);
  assert.throws(write, CatalogueFileError);
  assert.throws(write, /models\.1\.price: .*free/);
});

const BEGUN = '2026-06-01T00:00:00Z';
const LATER = '2100-01-01T00:00:00Z';
const NOW_MS = Date.parse('2026-11-01T00:00:00Z');
const SECOND = { inputMicrosPerMillion: 6, outputMicrosPerMillion: 10, microsPerSearch: 3 };

/** Where a price that was set for later has come into force: at a model, and at another whose upstream follows it. */
function begunFile(change: Readonly<Record<string, unknown>> = {}) {
  const [old, , , two] = FILE.models;
  const priceChanges = [
    { from: BEGUN, price: SECOND, ...change },
    { from: LATER, price: RATES },
  ];
  const models = [
    { ...old, searchesMax: 2, priceChanges },
    { ...two, priceChanges },
  ];
  return JSON.stringify({ ...FILE, models });
}

function writtenAt(text: string, from?: string) {
  const upstreams = readUpstreams(text, NOW_MS).filter(({ provider }) => provider === 'acme');
  return parseCatalogueFile(
    withPrices(
      text,
      upstreams.map((upstream) => ({ upstream, card: PLAIN })),
      from,
    ),
  ).models;
}

/** What an upstream of `acme` costs at a time, by the rows that the catalogue makes of a model. */
function inForce(model: CatalogueModel | undefined, nowMs: number) {
  assert.ok(model !== undefined);
  const rows = pricesOf(model).filter(({ provider }) => provider === 'acme');
  return Number(priceAt(rows, nowMs)?.input_micros_per_million);
}

test('MO-10 the price compared is the one in force', () => {
  const read = readUpstreams(begunFile(), NOW_MS).map(({ old, laterPrices }) => [
    old.card?.[0].rates.input,
    laterPrices,
  ]);
  assert.deepEqual(read, [
    [6n, 1],
    [6n, 1],
    [5n, 0],
  ]);
});

test('MO-10 a new price takes over once written, even from scheduled ones', () => {
  for (const model of writtenAt(begunFile())) {
    assert.deepEqual([inForce(model, NOW_MS), inForce(model, Date.parse(LATER) + 1)], [50, 5], model.id);
  }
});

test('MO-10 a new price for later keeps an effective scheduled one', () => {
  const from = '2090-01-01T00:00:00Z';
  for (const model of writtenAt(begunFile(), from)) {
    assert.deepEqual([inForce(model, NOW_MS), inForce(model, Date.parse(from))], [6, 50], model.id);
  }
});

const marginsAt = (model: CatalogueModel | undefined, nowMs: number) => {
  const rows = model === undefined ? [] : pricesOf(model).filter(({ provider }) => provider === 'acme');
  const { margin_basis_points: share, margin_micros_per_call: perCall } = priceAt(rows, nowMs) ?? {};
  return [share, perCall];
};

test('MO-10 a new price leaves all margins unchanged', () => {
  const text = begunFile({ marginBasisPoints: 700, marginMicrosPerCall: 2 });
  for (const raw of [text, text.replaceAll('"providerModel":"two"', '"providerModel":"two","marginBasisPoints":300')]) {
    const before = parseCatalogueFile(raw).models;
    for (const [place, model] of writtenAt(raw).entries()) {
      for (const nowMs of [NOW_MS, Date.parse(LATER)]) {
        assert.deepEqual(marginsAt(model, nowMs), marginsAt(before[place], nowMs), `${model.id} ${nowMs}`);
      }
    }
  }
});
