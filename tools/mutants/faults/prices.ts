import type { Mutant } from '../mutant.ts';
import {
  catalogueEdits,
  catalogueImport,
  cataloguePages,
  comingIntoForce,
  holdRequest,
  price,
  priceRows,
  readingTwice,
  specialPrices,
  unwantedPrices,
} from './places.ts';

const CHARGE = readingTwice('MO-06 two readings of any price agree');
const CEILING = readingTwice('WA-07 a ceiling is its dearest usage’s cost');
const CONTEXT = specialPrices('WA-07 MO-08 a hold never exceeds the room in the context');

/** Faults in prices that are not ordinary: more kinds of token, tiers, fees, and prices that are set for later. */
export const PRICE_FAULTS: readonly Mutant[] = [
  {
    id: 'tier-of-one-token-less',
    clause: 'MO-06',
    edits: [price('promptTokens <= inputTokensMax', 'promptTokens < inputTokensMax')],
    killer: specialPrices('MO-06 a tier charges the whole prompt above its bound'),
  },
  {
    id: 'reasoning-at-the-price-of-output',
    clause: 'MO-08',
    edits: [price('BigInt(reasoningTokens) * tier.reasoning', 'BigInt(reasoningTokens) * tier.output')],
    killer: CHARGE,
  },
  {
    id: 'fee-of-a-call-forgotten',
    clause: 'MO-06',
    edits: [price('(microsPerCall + searches * microsPerSearch)', '(searches * microsPerSearch)')],
    killer: CHARGE,
  },
  {
    id: 'fixed-margin-forgotten',
    clause: 'MO-06',
    edits: [price('/ SCALE + marginMicrosPerCall', '/ SCALE')],
    killer: CHARGE,
  },
  {
    id: 'ceiling-of-the-first-tier',
    clause: 'WA-07',
    edits: [price('if (cost > most) most = cost;', 'if (most === 0n) most = cost;')],
    killer: CEILING,
  },
  {
    id: 'ceiling-without-searches',
    clause: 'WA-07',
    edits: [price('most + feesOf(special, special.searchesMax)', 'most + feesOf(special, 0n)')],
    killer: CEILING,
  },
  {
    id: 'ceiling-by-plain-output',
    clause: 'WA-07',
    edits: [price('largest(output, reasoning, audioOutput, imageOutput)', 'output')],
    killer: CEILING,
  },
  {
    id: 'cheaper-writes-for-longer',
    clause: 'MO-08',
    edits: [priceRows('price.cacheWriteLongMicrosPerMillion ?? cacheWrite', 'cacheWrite')],
    killer: CHARGE,
  },
  {
    id: 'price-in-force-a-moment-late',
    clause: 'MO-05',
    edits: [priceRows('startOf(row) <= nowMs', 'startOf(row) < nowMs')],
    killer: comingIntoForce('MO-05 a scheduled price comes into force by itself'),
  },
  {
    id: 'price-from-the-past-accepted',
    clause: 'MO-05',
    edits: [unwantedPrices('epochMsOf(from) <= nowMs && !known.has(name)', 'epochMsOf(from) < 0')],
    killer: comingIntoForce('MO-05 a new price from the past is refused'),
  },
  {
    id: 'key-to-any-host-by-an-edit',
    clause: 'MO-11',
    edits: [catalogueEdits('return strange && refusedField', 'return strange && undefined && refusedField')],
    killer: cataloguePages('MO-11 no catalogue edit sends a key to an unbound host'),
  },
  {
    id: 'edit-of-an-older-catalogue',
    clause: 'MO-05',
    edits: [catalogueEdits('expected === undefined || expected === version', 'expected !== version + 1n')],
    killer: catalogueImport('MO-05 a catalogue edit of an older named version is refused'),
  },
  {
    id: 'hold-for-the-longest-prompt-alone',
    clause: 'WA-07',
    edits: [holdRequest('[shortest, ...between, tokensMax]', '[tokensMax]')],
    killer: CONTEXT,
  },
  {
    id: 'hold-without-the-bounds-of-tiers',
    clause: 'WA-07',
    edits: [holdRequest('[shortest, ...between, tokensMax]', '[shortest, tokensMax]')],
    killer: CONTEXT,
  },
];
