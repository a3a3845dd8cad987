// Two readings of the price agree: the service's, and one of the tests that shares no code with it. `npm run proofs -- prices` compares
// a million random prices and usages. PURSER_TEST_SEED repeats a run.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { priceAt, priceOf, pricesOf } from '../../packages/service/src/catalogue/price-row.ts';
import { parseCatalogueFile } from '../../packages/service/src/catalogue/catalogue-file.ts';
import {
  ceilingOf,
  chargeOf,
  outputWithin,
  type Price,
  type TokenUsage,
} from '../../packages/service/src/catalogue/price.ts';
import { MICROS_MAX, micros } from '../../packages/service/src/kernel/values/micros.ts';
import {
  exactCost,
  INPUT_KINDS,
  OUTPUT_KINDS,
  type ReadChange,
  type ReadModel,
  type ReadPrice,
  type Used,
} from './price-reading.ts';
import { ROUNDS } from '../support/rounds.ts';
import { sequenceOf } from '../support/sequence.ts';

const COUNT = ROUNDS * 2_000;
const USAGES_OF_A_PRICE = 20; // To parse a catalogue takes longer than to compute a charge.
const seed = Number(process.env['PURSER_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const next = sequenceOf(seed);

after(() => {
  console.log(`${COUNT} prices and usages, seed ${seed}`);
});

/** A whole number up to `most`: sometimes one of the bounds, otherwise as often small as large. */
function upTo(most: number): number {
  const kind = next();
  if (kind < 0.1) return 0;
  if (kind < 0.13) return most;
  return Math.floor((most + 1) ** next() * next());
}

function sometimes<Value>(share: number, make: () => Value): Value | undefined {
  return next() < share ? make() : undefined;
}

const RATES = [...INPUT_KINDS, ...OUTPUT_KINDS].map((kind) => `${kind}MicrosPerMillion`);

function anyPrice(): ReadPrice {
  const names = RATES.filter((name) => /^(in|out)put/.test(name) || next() < 0.4);
  const rates = () => Object.fromEntries(names.map((name) => [name, upTo(1_000_000_000_000)]));
  let bound = 0;
  const tiers = Array.from({ length: upTo(3) }, () => ({
    aboveInputTokens: (bound += 1 + upTo(1_000_000)),
    ...rates(),
  }));
  return {
    ...rates(),
    microsPerCall: sometimes(0.3, () => upTo(1_000_000_000)),
    microsPerSearch: sometimes(0.3, () => upTo(1_000_000_000)),
    tiers: tiers.length === 0 ? undefined : tiers,
  } as ReadPrice;
}

const margins = () => ({
  marginBasisPoints: sometimes(0.5, () => upTo(1_000_000)),
  marginMicrosPerCall: sometimes(0.5, () => upTo(1_000_000_000)),
});
const MOMENTS = ['2100-01-01T00:00:00Z', '2100-06-01T12:00:00Z', '2101-01-01T00:00:01Z'];

function anyChanges(): readonly ReadChange[] {
  return MOMENTS.filter(() => next() < 0.4)
    .toSorted(() => next() - 0.5)
    .map((from) => ({ from, price: anyPrice(), ...margins() }) as ReadChange);
}

function anyModel() {
  const price = anyPrice();
  const isOld = next() < 0.3 && !('cacheWriteMicrosPerMillion' in price) && price.tiers === undefined;
  const own = () => {
    const hasOwn = next() < 0.5;
    return { ...margins(), ...(hasOwn ? { price: anyPrice(), priceChanges: anyChanges() } : {}) };
  };
  return {
    price,
    ...(isOld ? { cacheWriteMicrosPerMillion: upTo(1_000_000_000_000) } : {}),
    ...margins(),
    priceChanges: anyChanges(),
    upstreams: [
      { provider: 'one', providerModel: 'a', ...own() },
      { provider: 'one', providerModel: 'b', ...own() },
    ],
  };
}

const SEARCHES_MAX = 7;

/** The service's way: the file is parsed, stored as rows, and the row in force is a price. */
function pricesIn(model: object, at: string): readonly Price[] | undefined {
  const file = {
    providers: { one: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' } },
    models: [{ id: 'a.b', resale: 'open', contextTokens: 1, maxOutputTokens: 99, searchesMax: SEARCHES_MAX, ...model }],
  };
  let parsed;
  try {
    parsed = parseCatalogueFile(JSON.stringify(file));
  } catch (fault) {
    // A random price may be nothing at all.
    assert.match(String(fault), /must charge something|must have `"free": true`|the model has no other price/);
    return undefined;
  }
  const [entry] = parsed.models;
  assert.ok(entry !== undefined);
  const rows = pricesOf(entry).map((row, index) => ({ ...row, price_id: BigInt(index) }));
  return ['a', 'b'].map((name) => {
    const row = priceAt(
      rows.filter(({ provider_model }) => provider_model === name),
      Date.parse(at),
    );
    assert.ok(row !== undefined);
    return priceOf(row, SEARCHES_MAX);
  });
}

function anyUsed(): Used {
  const most = next() < 0.5 ? 4_000 : 400_000_000;
  const kinds = [...INPUT_KINDS, ...OUTPUT_KINDS].map((kind) => [kind, next() < 0.4 ? 0 : upTo(most)] as const);
  return { ...Object.fromEntries(kinds), searches: next() < 0.5 ? 0 : upTo(SEARCHES_MAX) } as unknown as Used;
}

/** The same as the service counts it. Rare counts are left out if there are none. */
function usageOf(used: Used): TokenUsage {
  const rare = {
    cacheWriteLongTokens: used.cacheWriteLong,
    audioInputTokens: used.audioInput,
    imageInputTokens: used.imageInput,
    audioOutputTokens: used.audioOutput,
    imageOutputTokens: used.imageOutput,
    searches: used.searches,
  };
  return {
    promptTokens: INPUT_KINDS.reduce((sum, kind) => sum + used[kind], 0),
    cachedTokens: used.cachedInput,
    cacheWriteTokens: used.cacheWrite,
    completionTokens: OUTPUT_KINDS.reduce((sum, kind) => sum + used[kind], 0),
    reasoningTokens: used.reasoning,
    ...(Object.values(rare).some((count) => count > 0) ? { rare } : {}),
  };
}

function roundedUp({ over, under }: { over: bigint; under: bigint }): bigint {
  const whole = (over + under - 1n) / under;
  return whole > MICROS_MAX ? MICROS_MAX : whole;
}

/** Runs `check` with random prices, each at a random moment and upstream. */
type Check = (price: Price, exact: (used: Used) => bigint, what: unknown) => void;

function withPrices(count: number, check: Check, usagesOfAPrice = USAGES_OF_A_PRICE): void {
  for (let done = 0; done < count; ) {
    const model = JSON.parse(JSON.stringify(anyModel())) as ReadModel;
    const at = ['2099-12-31T23:59:59Z', ...MOMENTS, '2101-01-01T00:00:00Z'][upTo(4)] ?? '';
    const prices = pricesIn(model, at);
    if (prices === undefined) continue;
    for (const index of [0, 1] as const) {
      const price: Price | undefined = prices[index];
      assert.ok(price !== undefined);
      for (let usage = 0; usage < usagesOfAPrice && done < count; usage += 1) {
        check(price, (used) => roundedUp(exactCost(model, index, at, used)), { model, index, at });
        done += 1;
      }
    }
  }
}

function shown(...values: readonly unknown[]): string {
  return JSON.stringify(values, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

test('MO-06 two readings of any price agree', () => {
  withPrices(COUNT, (price, exact, what) => {
    const used = anyUsed();
    const charge = chargeOf(price, usageOf(used));
    if (charge !== exact(used)) assert.fail(shown(what, used, charge, exact(used)));
  });
});

const NOTHING = Object.fromEntries([...INPUT_KINDS, ...OUTPUT_KINDS].map((kind) => [kind, 0]));

test('WA-07 a ceiling is its dearest usage’s cost', () => {
  withPrices(
    COUNT / 20,
    (price, exact, what) => {
      const [prompt, output] = [upTo(3_000_000), upTo(100_000)];
      const ceiling = ceilingOf(price, prompt, output);
      // The longest prompts of each tier, all of one kind, with output of one kind.
      const bounds = (price.special?.tiers ?? []).map(({ inputTokensMax }) => inputTokensMax);
      const prompts = [prompt, ...bounds.filter((bound) => bound < prompt)];
      const corners = prompts.flatMap((tokens) =>
        INPUT_KINDS.flatMap((input) =>
          OUTPUT_KINDS.map((kind) => {
            const searches = SEARCHES_MAX;
            return exact({ ...NOTHING, [input]: tokens, [kind]: output, searches } as unknown as Used);
          }),
        ),
      );
      const dearest = corners.reduce((most, one) => (one > most ? one : most));
      if (ceiling !== dearest) assert.fail(shown(what, prompt, output, ceiling, dearest));
    },
    1,
  ); // Few prices have a fee for searches, so that many are looked at.
});

test('WA-07 no usage within bounds exceeds its hold', () => {
  withPrices(COUNT / 5, (price, exact, what) => {
    const used = anyUsed();
    const { promptTokens, completionTokens } = usageOf(used);
    const ceiling = ceilingOf(price, promptTokens + upTo(1_000_000), completionTokens + upTo(1_000));
    if (exact(used) > ceiling) assert.fail(shown(what, used, ceiling));
  });
});

test('WA-07 an amount affords the largest covered output at any price', () => {
  withPrices(COUNT / 5, (price, _exact, what) => {
    const [prompt, outputMax] = [upTo(3_000_000), upTo(1_000_000)];
    const near = ceilingOf(price, prompt, upTo(outputMax)) + BigInt(upTo(6)) - 3n;
    const granted = micros(near < 0n ? 0n : near > MICROS_MAX ? MICROS_MAX : near);
    const output = outputWithin(price, prompt, outputMax, granted);
    const covers = (tokens: number) => granted === MICROS_MAX || ceilingOf(price, prompt, tokens) <= granted;
    const isLargest = output === outputMax || !covers(output + 1);
    // No hold is too small for the prompt alone.
    if (covers(0) && !(isLargest && covers(output))) assert.fail(shown(what, prompt, granted, output));
  });
});
