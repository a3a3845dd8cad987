import type { CalledWire } from '../../support/called-wire.ts';
import { ALL_WIRES, isSpoken, WIRES } from '../../support/wires.ts';
import type { ModelPrice } from './history-log.ts';
import { type KeyPlan, planKeys } from './key-plan.ts';
import { ceilingOf } from './price.ts';
import { createRandom, type Random } from './random.ts';

/** Everything that a history decides in advance, and nothing that depends on the speed of the machine. */
export interface HistoryPlan {
  readonly seed: number;
  readonly gateways: number;
  readonly chaosMs: number;
  /** Some histories have stops that outlast the lease. The others have none, so nothing may go uncharged there. */
  readonly hasLongStops: boolean;
  /** Whether the database is down for longer than a lease. No live process may lose its holds for that. */
  readonly hasLongOutage: boolean;
  /** Whether one gateway has a data directory of its own and is cut off from the database for longer than its lease. */
  readonly hasCut: boolean;
  readonly prices: Readonly<Record<string, ModelPrice>>;
  readonly wallets: readonly WalletPlan[];
  readonly keys: readonly KeyPlan[];
}

export interface WalletPlan {
  readonly user: string;
  readonly kind: 'rich' | 'poor' | 'capped' | 'clawed' | 'flipping' | 'tight';
  readonly firstCredit: number;
  readonly cap: number | undefined;
}

/** The models of the calls. `prove.silent` has a short timeout for a silent provider. */
const MODELS = ['prove.one', 'prove.two', 'prove.drain', 'prove.silent'] as const;
/** The model of calls for embeddings, whose output costs nothing. */
const VECTORS_MODEL = 'prove.vectors';
/** Every token costs one micro and the output limit is never lowered, so a probe can hold any amount. */
export const PROBE_MODEL = 'prove.probe';
const PROBE_PRICE: ModelPrice = {
  input: 1_000_000,
  cachedInput: 1_000_000,
  output: 1_000_000,
  marginBasisPoints: 0,
  promptOverhead: 0,
};
/** No other client has this number. */
const CUT_CLIENT = 1_000;
/** This is enough time to be cut off between the call's hold and its settlement. */
const CUT_CALL_MS = 4_000;
const LONG_STOPS_SHARE = 0.3;
const CUT_SHARE = 0.5;
const SILENCE_MS_MAX = 1_000;
const ANSWER_MS_MAX = 30_000;
const PROBE_TOKENS_MAX = 10_000_000;
const TIGHT_MODEL = 'prove.one';
const TIGHT_WALLETS = 6;
const TIGHT_BODY_BYTES = 150;
const TIGHT_OUTPUT_TOKENS = 100;
/** Every second call is of a key without a budget. */
const KEYS_OF_CALLS = [undefined, undefined, undefined, 'wide', 'changing', 'successor'].map((name) => ({ name }));

export function planHistory(seed: number): HistoryPlan {
  const random = createRandom(seed, 'plan');
  const prices = Object.fromEntries(MODELS.map((model) => [model, priceFrom(random)]));
  const wallets: readonly WalletPlan[] = [
    { user: 'rich-1', kind: 'rich', firstCredit: 9_000_000, cap: undefined },
    { user: 'rich-2', kind: 'rich', firstCredit: 9_000_000, cap: undefined },
    { user: 'poor-1', kind: 'poor', firstCredit: random.whole(500, 20_000), cap: undefined },
    { user: 'poor-2', kind: 'poor', firstCredit: random.whole(500, 60_000), cap: undefined },
    { user: 'capped', kind: 'capped', firstCredit: 2_000_000, cap: random.whole(1_000, 80_000) },
    { user: 'clawed-1', kind: 'clawed', firstCredit: random.whole(10_000, 100_000), cap: undefined },
    { user: 'clawed-2', kind: 'clawed', firstCredit: random.whole(10_000, 300_000), cap: undefined },
    { user: 'flipping', kind: 'flipping', firstCredit: 5_000_000, cap: undefined },
    ...tightWallets(prices[TIGHT_MODEL]),
  ];
  const kind = random.fraction();
  const hasLongOutage = kind > 0.9;
  const hasCut = kind >= LONG_STOPS_SHARE && !hasLongOutage && createRandom(seed, 'cut').chance(CUT_SHARE);
  return {
    seed,
    gateways: Math.max(random.whole(2, 4), hasCut ? 3 : 2), // One is cut off, one is spared, and others are killed.
    chaosMs: random.whole(9_000, 15_000) + (hasLongOutage ? 15_000 : 0), // Otherwise nothing but the outage would happen.
    hasLongStops: kind < LONG_STOPS_SHARE,
    hasLongOutage,
    hasCut,
    prices: { ...prices, [PROBE_MODEL]: PROBE_PRICE, [VECTORS_MODEL]: priceOfVectors(seed) },
    wallets,
    keys: planKeys(createRandom(seed, 'keys'), tightMoney(prices[TIGHT_MODEL])),
  };
}

/** Their caps have room for one and a half calls. Each is for one burst, in which only one call may get its full amount. */
function tightWallets(price: ModelPrice | undefined): readonly WalletPlan[] {
  return Array.from({ length: TIGHT_WALLETS }, (_, index) => {
    return { user: `tight-${index}`, kind: 'tight', firstCredit: 9_000_000, cap: tightMoney(price) };
  });
}

function tightMoney(price: ModelPrice | undefined): number {
  const most = price === undefined ? 0 : ceilingOf(price, TIGHT_BODY_BYTES, TIGHT_OUTPUT_TOKENS);
  return Math.ceil(most * 1.5);
}

function priceFrom(random: Random): ModelPrice {
  const input = random.whole(1, 12_000_000);
  return {
    input,
    cachedInput: random.whole(0, input),
    output: random.whole(1, 30_000_000),
    marginBasisPoints: random.pick([0, 1, 1_500, random.whole(0, 5_000)]),
    promptOverhead: random.whole(0, 100),
  };
}

function priceOfVectors(seed: number): ModelPrice {
  const { input, ...price } = priceFrom(createRandom(seed, 'vectors'));
  return { ...price, input, cachedInput: input, output: 0 };
}

/** The catalogue of a history, its provider at `baseUrl`. */
export function catalogueOf({ prices }: Pick<HistoryPlan, 'prices'>, baseUrl: string) {
  const models = Object.entries(prices).map(([id, price]) => ({
    id,
    provider: 'scripted',
    providerModel: id,
    resale: 'open',
    price: {
      inputMicrosPerMillion: price.input,
      cachedInputMicrosPerMillion: price.cachedInput,
      outputMicrosPerMillion: price.output,
    },
    cacheWriteMicrosPerMillion: 0,
    marginBasisPoints: price.marginBasisPoints,
    promptOverheadTokens: price.promptOverhead,
    contextTokens: PROBE_TOKENS_MAX,
    maxOutputTokens: id === PROBE_MODEL ? PROBE_TOKENS_MAX : 1_000,
    minOutputTokens: id === PROBE_MODEL ? PROBE_TOKENS_MAX : 16,
    outputLimitParameter: 'max_completion_tokens',
    onAbandon: id === 'prove.drain' ? 'drain' : 'cancel',
    timeoutMs: id === 'prove.silent' ? SILENCE_MS_MAX : ANSWER_MS_MAX,
    ...(id === VECTORS_MODEL && { apis: ['embeddings'], dimensionsMax: 8, maxOutputTokens: 1, minOutputTokens: 1 }),
  }));
  return { providers: { scripted: { kind: 'openai-compatible', baseUrl } }, models, aliases: {} };
}

/** One call, as its client will send it and its provider answer it. */
export interface CallPlan {
  readonly tag: string;
  readonly user: string;
  /** The key that it is sent with. Undefined: the one without a budget. */
  readonly key: string | undefined;
  readonly model: string;
  readonly isStream: boolean;
  readonly wantsUsage: boolean;
  readonly wire: CalledWire;
  readonly outputTokensMax: number;
  /** The index of the gateway, as a fraction of their number. */
  readonly gateway: number;
  readonly leaveAfterMs: number | undefined;
  readonly pauseMs: number;
  readonly answer: AnswerPlan;
}

export interface AnswerPlan {
  readonly kind: 'full' | 'status' | 'cut' | 'garbage' | 'silence';
  readonly status: number;
  readonly waitMs: number;
  readonly pieces: readonly string[];
  readonly usage: 'reported' | 'zero' | 'none' | 'overrun';
  readonly promptTokens: number;
  readonly cachedTokens: number;
  /** The tokens of the completion, as a fraction of the output limit that the provider gets. */
  readonly completionShare: number;
  /** Bytes in a stream that are not content, so that it exceeds what a connection takes at once. */
  readonly fillerBytes: number;
}

/** The nth call of a client. It depends on the seed alone. */
export function planCall(plan: HistoryPlan, client: number, index: number): CallPlan {
  const tag = `h${plan.seed}-c${client}-${index}`;
  const random = createRandom(plan.seed, tag);
  const isSilent = random.chance(0.02);
  const answer = planAnswer(random, isSilent);
  const planned = {
    tag,
    user: random.pick(plan.wallets.filter(({ kind }) => kind !== 'tight')).user,
    model: isSilent ? 'prove.silent' : random.pick(['prove.one', 'prove.two', 'prove.drain']),
    isStream: random.chance(0.5),
    wantsUsage: random.chance(0.5),
    outputTokensMax: random.whole(1, 150),
    gateway: random.fraction(),
    leaveAfterMs: leaveAfterMs(random),
    pauseMs: random.whole(0, 120),
    answer,
    key: random.pick(KEYS_OF_CALLS).name,
  };
  const wire = random.pick(isSilent ? WIRES : ALL_WIRES);
  if (isSpoken(wire)) return { ...planned, wire };
  return { ...planned, wire, model: VECTORS_MODEL, isStream: false, wantsUsage: false };
}

/** The same call by the model whose prices are tight, which has conversations alone. */
function onTightModel(planned: CallPlan): CallPlan {
  return { ...planned, model: TIGHT_MODEL, wire: isSpoken(planned.wire) ? planned.wire : WIRES[0] };
}

/** Some clients leave early and some only when a process stands still, so that not all of them end up waiting for it. */
function leaveAfterMs(random: Random): number | undefined {
  if (random.chance(0.15)) return random.whole(1, 250);
  return random.chance(0.5) ? random.whole(1_000, 4_000) : undefined;
}

/** What a burst of calls spends: one wallet, or the budget of one key by the wallets of several users. */
export type BurstPlan = { readonly wallet: WalletPlan } | { readonly key: KeyPlan };

/**
 * A call of a burst. On a tight wallet or budget it costs its whole hold, so that one hold too many shows as one charge too
 * many.
 */
export function planBurstCall(plan: HistoryPlan, place: number, index: number, burst: BurstPlan): CallPlan {
  const planned = planCall(plan, place, index);
  const rich = plan.wallets.filter(({ kind }) => kind === 'rich');
  const call =
    'key' in burst
      ? { ...planned, user: rich[place % rich.length]?.user ?? '', key: burst.key.name }
      : { ...planned, user: burst.wallet.user, key: undefined };
  if (!('key' in burst) && burst.wallet.kind !== 'tight') return call;
  const answer: AnswerPlan = { ...call.answer, kind: 'full', usage: 'overrun' };
  const all = { leaveAfterMs: undefined, isStream: false, wantsUsage: false, outputTokensMax: TIGHT_OUTPUT_TOKENS };
  return onTightModel({ ...call, ...all, answer });
}

/** A call that is under way while its gateway is cut off. */
export function planCutCall(plan: HistoryPlan, index: number): CallPlan {
  const planned = planCall(plan, CUT_CLIENT, index);
  const answer: AnswerPlan = { ...planned.answer, kind: 'full', waitMs: CUT_CALL_MS };
  return onTightModel({ ...planned, leaveAfterMs: undefined, gateway: 1 - Number.EPSILON, answer });
}

function planAnswer(random: Random, isSilent: boolean): AnswerPlan {
  const fault = random.chance(0.15) ? random.pick(['status', 'cut', 'garbage'] as const) : 'full';
  const promptTokens = random.whole(0, 120);
  return {
    kind: isSilent ? 'silence' : fault,
    status: random.pick([400, 404, 422, 429, 500, 503]),
    waitMs: random.chance(0.5) ? 0 : random.whole(1, 150),
    // At most fifteen tokens by our own count, which is below the smallest limit that a wallet's means can lead to.
    pieces: Array.from({ length: random.whole(1, 5) }, () => 'x'.repeat(random.whole(1, 12))),
    usage: random.chance(0.8) ? 'reported' : random.pick(['zero', 'none', 'overrun'] as const),
    promptTokens,
    cachedTokens: random.chance(0.3) ? random.whole(0, promptTokens) : 0,
    completionShare: random.fraction(),
    fillerBytes: 0,
  };
}
