import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CatalogueFileError, parseCatalogueFile } from '#catalogue/catalogue-file.ts';

const PRICE = { inputMicrosPerMillion: 1, outputMicrosPerMillion: 2 };
const MODEL = {
  id: 'acme.large-1',
  provider: 'one',
  providerModel: 'large',
  resale: 'open',
  price: PRICE,
  contextTokens: 128_000,
  maxOutputTokens: 1_000,
};
const AT_ONE = { provider: 'one', providerModel: 'large' };
const AT_TWO = { provider: 'two', providerModel: 'large-2' };
const BY_TWO = { provider: undefined, providerModel: undefined, upstreams: [AT_ONE, AT_TWO] };
const LATER = { from: '2100-01-01T00:00:00Z', price: PRICE };
const EVERY_RATE = {
  ...PRICE,
  cachedInputMicrosPerMillion: 3,
  cacheWriteMicrosPerMillion: 4,
  cacheWriteLongMicrosPerMillion: 5,
  audioInputMicrosPerMillion: 6,
  imageInputMicrosPerMillion: 7,
  reasoningMicrosPerMillion: 8,
  audioOutputMicrosPerMillion: 9,
  imageOutputMicrosPerMillion: 10,
};

function parse(changes: Readonly<Record<string, unknown>>) {
  const provider = { kind: 'openai-compatible', baseUrl: 'https://api.example.test/v1' };
  const drained = { ...provider, onAbandon: 'drain' };
  const file = { providers: { one: drained, two: provider }, models: [{ ...MODEL, ...changes }] };
  return parseCatalogueFile(JSON.stringify(file)).models[0];
}

test('MO-06 a price may have all token kinds, fees, tiers and changes', () => {
  const price = {
    ...EVERY_RATE,
    microsPerCall: 11,
    microsPerSearch: 12,
    tiers: [
      { aboveInputTokens: 1, ...EVERY_RATE },
      { aboveInputTokens: 2, ...EVERY_RATE },
    ],
  };
  const change = { ...LATER, price, marginBasisPoints: 1, marginMicrosPerCall: 2 };
  const all = { price, marginMicrosPerCall: 3, priceChanges: [change], searchesMax: 5 };
  const { price: read, marginMicrosPerCall, priceChanges, searchesMax } = parse(all) ?? {};
  assert.deepEqual({ price: read, marginMicrosPerCall, priceChanges, searchesMax }, all);
});

test('MO-06 a model may have several upstreams with own prices', () => {
  const own = { ...AT_TWO, price: EVERY_RATE, marginBasisPoints: 1, priceChanges: [LATER], onAbandon: 'drain' };
  const upstreams = [
    { ...AT_ONE, weight: 3 },
    { ...own, weight: 1, timeoutMs: 1_000, firstByteMs: 100 },
  ];
  assert.deepEqual(parse({ ...BY_TWO, upstreams })?.upstreams, upstreams);
  const priced = [
    { ...AT_ONE, price: PRICE },
    { ...AT_TWO, price: EVERY_RATE },
  ];
  assert.equal(parse({ ...BY_TWO, price: undefined, upstreams: priced })?.price, undefined);
});

const tiers = (...bounds: readonly number[]) => ({
  price: { ...PRICE, tiers: bounds.map((aboveInputTokens) => ({ aboveInputTokens, ...PRICE })) },
});

const FAULTS: readonly (readonly [string, Readonly<Record<string, unknown>>, RegExp])[] = [
  ['has a kind of token that nobody knows', { price: { ...PRICE, smellMicrosPerMillion: 1 } }, /price\.smell/],
  ['has a fee below zero', { price: { ...PRICE, microsPerCall: -1 } }, /price\.microsPerCall/],
  ['has a fee that is not whole', { price: { ...PRICE, microsPerSearch: 0.5 } }, /price\.microsPerSearch/],
  ['has an absurd fee', { price: { ...PRICE, microsPerCall: 1_000_000_001 } }, /price\.microsPerCall: .*at most/],
  ['has a fixed margin below zero', { marginMicrosPerCall: -1 }, /marginMicrosPerCall/],
  ['has no bound on searches', { price: { ...PRICE, microsPerSearch: 1 } }, /searchesMax: is required with/],
  ['has no tier in its tiers', tiers(), /price\.tiers/],
  ['has two tiers of one bound', tiers(5, 5), /price\.tiers\.1\.aboveInputTokens: must be greater/],
  ['has tiers that fall', tiers(5, 4), /price\.tiers\.1\.aboveInputTokens: must be greater/],
  ['has a tier for every prompt', tiers(0), /price\.tiers\.0\.aboveInputTokens/],
  [
    'has a tier that leaves a price out',
    { price: { ...PRICE, cachedInputMicrosPerMillion: 1, tiers: [{ aboveInputTokens: 9, ...PRICE }] } },
    /price\.tiers\.0\.cachedInputMicrosPerMillion: is missing/,
  ],
  [
    'has the price of writes to a cache in two places',
    { price: { ...PRICE, cacheWriteMicrosPerMillion: 1 }, cacheWriteMicrosPerMillion: 2 },
    /models\.0\.cacheWriteMicrosPerMillion: is in `price`/,
  ],
  ['changes a price at no time', { priceChanges: [{ ...LATER, from: 'Monday' }] }, /priceChanges\.0\.from: .*moment/],
  [
    'changes a price in another zone',
    { priceChanges: [{ ...LATER, from: '2100-01-01T00:00:00+01:00' }] },
    /priceChanges\.0\.from/,
  ],
  [
    'changes a price twice at once',
    { priceChanges: [LATER, LATER] },
    /priceChanges\.1\.from: is the moment of another/,
  ],
  [
    'changes a price to nothing',
    { priceChanges: [{ ...LATER, price: { inputMicrosPerMillion: 0, outputMicrosPerMillion: 0 } }] },
    /priceChanges\.0\.price: must charge something/,
  ],
  ['will not be free for ever', { price: undefined, free: true, priceChanges: [LATER] }, /priceChanges/],
  [
    'changes a price that there is not',
    { ...BY_TWO, upstreams: [{ ...AT_TWO, priceChanges: [LATER] }] },
    /upstreams\.0\.priceChanges: need a `price`/,
  ],
  [
    'is free but for a fixed margin',
    { price: undefined, free: true, marginMicrosPerCall: 1 },
    /free: must not be true/,
  ],
  [
    'is free at one upstream only',
    { ...BY_TWO, upstreams: [AT_ONE, { ...AT_TWO, price: { inputMicrosPerMillion: 0, outputMicrosPerMillion: 0 } }] },
    /upstreams\.1\.price: must charge something/,
  ],
  [
    'is free with a price at one upstream',
    { ...BY_TWO, price: undefined, free: true, upstreams: [AT_ONE, { ...AT_TWO, price: PRICE }] },
    /upstreams\.1\.price: is not allowed for/,
  ],
  [
    'is free but for a fixed margin at one upstream',
    { ...BY_TWO, price: undefined, free: true, upstreams: [AT_ONE, { ...AT_TWO, marginMicrosPerCall: 1 }] },
    /upstreams\.1\.marginMicrosPerCall: is not allowed for/,
  ],
  [
    'costs nothing at one upstream, which leaves out the fixed margin that is its price',
    {
      ...BY_TWO,
      price: { inputMicrosPerMillion: 0, outputMicrosPerMillion: 0 },
      marginMicrosPerCall: 1,
      upstreams: [AT_ONE, { ...AT_TWO, marginMicrosPerCall: 0 }],
    },
    /upstreams\.1\.marginMicrosPerCall: must not be 0/,
  ],
  [
    'has an upstream without any price',
    { ...BY_TWO, price: undefined, upstreams: [AT_ONE, { ...AT_TWO, price: PRICE }] },
    /models\.0\.price: .*free/,
  ],
  [
    'has a provider beside its upstreams',
    { ...BY_TWO, provider: 'one' },
    /models\.0\.provider: is not allowed together with/,
  ],
  ['has no provider', { provider: undefined }, /models\.0\.provider: is required without `upstreams`/],
  ['has no name at its provider', { providerModel: undefined }, /models\.0\.providerModel: is required/],
  ['has no upstream', { ...BY_TWO, upstreams: [] }, /upstreams/],
  [
    'has too many upstreams',
    { ...BY_TWO, upstreams: Array.from({ length: 9 }, (_, index) => ({ ...AT_ONE, providerModel: `m${index}` })) },
    /upstreams: .*at most 8/,
  ],
  [
    'names an upstream twice',
    { ...BY_TWO, upstreams: [AT_ONE, AT_ONE] },
    /upstreams\.1\.providerModel: is listed twice/,
  ],
  [
    'has an upstream of nobody',
    { ...BY_TWO, upstreams: [{ ...AT_ONE, provider: 'nobody' }] },
    /upstreams\.0\.provider: there is no provider/,
  ],
  ['weighs one upstream only', { ...BY_TWO, upstreams: [{ ...AT_ONE, weight: 1 }, AT_TWO] }, /upstreams\.1\.weight/],
  [
    'has an upstream that cancels a model which reasons out of sight',
    { ...BY_TWO, reasonsOutOfSight: true },
    /upstreams\.1\.onAbandon: must be "drain"/,
  ],
];

for (const [what, changes, says] of FAULTS) {
  test(`MO-06 a file with a model that ${what} is refused with the fault’s place`, () => {
    assert.throws(
      () => parse(changes),
      (fault) => fault instanceof CatalogueFileError && says.test(fault.message) && fault.faults.length === 1,
    );
  });
}
