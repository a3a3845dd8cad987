import { type CataloguePrice, RATES } from '@purser/contract/catalogue.ts';
import type { ProbeCall } from '#probe/exchange.ts';
import {
  CHOICES,
  COUNT,
  DEVELOPER,
  HELLO,
  QUESTION_TOKENS_MAX,
  SCHEMA,
  SHORT,
  SHORT_LIMIT,
  SYSTEM,
  TOOL,
} from '#probe/questions.ts';
import { VECTOR_CALLS } from '#probe/vectors.ts';

/** A call that a probe may make, in tokens at most. */
interface PlannedCall {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

interface ProbePlan {
  readonly calls: number;
  /** The cost in micros, without a margin: if the upstream honours output limits, and if it ignores all of them. */
  readonly cost: { readonly honoured: bigint; readonly ignored: bigint } | undefined;
}

interface PlanOptions {
  /** How many names of the output limit are tried. */
  readonly limits: number;
  /** Whether it may serve several interfaces. Each is asked for, and tools may be asked for twice. */
  readonly hasApis?: boolean;
  /** The price of the model. It is undefined if the model has no price yet. */
  readonly price: CataloguePrice | undefined;
  readonly maxOutputTokens: number;
  /** The tokens of the full context. It is undefined unless a prompt is sent that fills the context. */
  readonly fullContextTokens: number | undefined;
  /** Only vectors are asked for. */
  readonly makesVectors?: boolean;
}

const INPUT = /^(?:input|cache|audioInput|imageInput)/;
const TOKENS_PER_PRICE = 1_000_000n;

/** Says what a probe may cost at most. Streams and orders may be asked for twice, in both forms. */
export function planOf(options: PlanOptions): ProbePlan {
  const { limits, hasApis = false, price, maxOutputTokens, fullContextTokens, makesVectors = false } = options;
  if (makesVectors) {
    const asked = Array.from({ length: VECTOR_CALLS }, () => ({ inputTokens: QUESTION_TOKENS_MAX, outputTokens: 0 }));
    const cost = price && costOf(price, asked);
    return { calls: VECTOR_CALLS, cost: cost === undefined ? undefined : { honoured: cost, ignored: cost } };
  }
  const questions = [...Array.from({ length: limits }, () => COUNT), SHORT, SHORT, TOOL, SCHEMA, DEVELOPER, SYSTEM];
  // If it serves neither, vectors are asked for instead of all that follows.
  if (hasApis) questions.push(HELLO, HELLO, TOOL);
  const calls = questions.map(({ outputTokens }: ProbeCall): PlannedCall => {
    return { inputTokens: QUESTION_TOKENS_MAX, outputTokens };
  });
  const ignoring = calls.map((call) => ({ ...call, outputTokens: Math.max(call.outputTokens, maxOutputTokens) }));
  // Two answers are asked for if the limit is honoured, and where it has two names `n` is a word.
  const choices = { inputTokens: QUESTION_TOKENS_MAX, outputTokens: 2 * CHOICES.outputTokens };
  if (limits > 1) for (const list of [calls, ignoring]) list.push(choices);
  // A tokenizer may make more than one token of each word.
  if (fullContextTokens !== undefined) {
    const filling = { inputTokens: 3 * fullContextTokens, outputTokens: SHORT_LIMIT };
    calls.push(filling);
    ignoring.push({ ...filling, outputTokens: Math.max(SHORT_LIMIT, maxOutputTokens) });
  }
  if (price === undefined) return { calls: calls.length, cost: undefined };
  return { calls: calls.length, cost: { honoured: costOf(price, calls), ignored: costOf(price, ignoring) } };
}

/** The dearest rate of all kinds of tokens and all tiers counts, as for a hold. */
function costOf(price: CataloguePrice, calls: readonly PlannedCall[]): bigint {
  let tokenMicros = 0n;
  for (const { inputTokens, outputTokens } of calls) {
    tokenMicros += BigInt(inputTokens) * dearest(price, (name) => INPUT.test(name));
    tokenMicros += BigInt(outputTokens) * dearest(price, (name) => !INPUT.test(name));
  }
  const fees = BigInt(price.microsPerCall ?? 0) * BigInt(calls.length);
  return (tokenMicros + TOKENS_PER_PRICE - 1n) / TOKENS_PER_PRICE + fees;
}

function dearest(price: CataloguePrice, isWanted: (name: string) => boolean): bigint {
  const amounts = [price, ...(price.tiers ?? [])].flatMap((one) =>
    RATES.filter(isWanted).map((name) => BigInt(one[name] ?? 0)),
  );
  return amounts.reduce((most, amount) => (amount > most ? amount : most), 0n);
}
