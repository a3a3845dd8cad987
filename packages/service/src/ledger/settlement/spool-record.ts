import { type CallId, type CorrelationId, parseCallId, parseCorrelationId } from '#kernel/ids.ts';
import { isJsonObject, parseJson } from '#kernel/json.ts';
import { micros, MICROS_MAX } from '#kernel/micros.ts';
import type { Settlement } from '#ledger/settlement/settlement.ts';

/** A settlement as one line of JSON, with amounts as decimal strings: ids and figures, nothing that anybody said. */
export function lineOf({ charge, priceId, ...rest }: Settlement): string {
  return `${JSON.stringify({ ...rest, charge: String(charge), priceId: priceId?.toString() })}\n`;
}

interface SpooledSettlements {
  readonly settlements: readonly Settlement[];
  /** How many lines say no settlement. */
  readonly malformed: number;
  /** The last line was begun and not finished, so that nobody was told that it is kept. */
  readonly isTorn: boolean;
}

/**
 * The settlements of a file, each call once. A last line that cannot be read was being written when its process or
 * machine died; that is no damage.
 */
export function readSpooled(text: string): SpooledSettlements {
  const lines = text.split('\n');
  const isTorn = lines.pop() !== '';
  const read = lines.map(settlementOf);
  const endsMalformed = !isTorn && lines.length > 0 && read.at(-1) === undefined;
  const byCall = new Map<CallId, Settlement>();
  for (const settlement of read) if (settlement !== undefined) byCall.set(settlement.callId, settlement);
  const malformed = read.filter((settlement) => settlement === undefined).length - Number(endsMalformed);
  return { settlements: [...byCall.values()], malformed, isTorn: isTorn || endsMalformed };
}

const OUTCOMES: readonly string[] = ['answered', 'abandoned', 'failed'] satisfies Settlement['outcome'][];
const DECIMAL = /^\d{1,19}$/;

function settlementOf(line: string): Settlement | undefined {
  const record = parseJson(line);
  if (!isJsonObject(record)) return undefined;
  const { outcome, model, isEstimated, isUsageClamped } = record;
  const callId = typeof record['callId'] === 'string' ? parseCallId(record['callId']) : undefined;
  const charge = decimalOf(record['charge'], MICROS_MAX);
  const priceId = decimalOf(record['priceId'], 2n ** 63n - 1n);
  const usage = usageOf(record['usage']);
  const correlationId = correlationIdOf(record['correlationId']);
  const isWhole =
    callId !== undefined &&
    typeof outcome === 'string' &&
    OUTCOMES.includes(outcome) &&
    (model === undefined || typeof model === 'string') &&
    typeof isEstimated === 'boolean' &&
    typeof isUsageClamped === 'boolean' &&
    charge !== undefined &&
    usage !== undefined &&
    (priceId !== undefined || record['priceId'] === undefined) &&
    (correlationId !== undefined || record['correlationId'] === undefined);
  if (!isWhole) return undefined;
  return {
    callId,
    charge: micros(charge),
    outcome: outcome as Settlement['outcome'],
    model,
    priceId,
    isEstimated,
    isUsageClamped,
    usage,
    correlationId,
  };
}

function decimalOf(value: unknown, most: bigint): bigint | undefined {
  if (typeof value !== 'string' || !DECIMAL.test(value)) return undefined;
  const amount = BigInt(value);
  return amount <= most ? amount : undefined;
}

function correlationIdOf(value: unknown): CorrelationId | undefined {
  return typeof value === 'string' ? parseCorrelationId(value) : undefined;
}

function usageOf(value: unknown): Settlement['usage'] | undefined {
  if (!isJsonObject(value)) return undefined;
  const { promptTokens, cachedTokens, completionTokens, reasoningTokens } = value;
  if (!isCount(promptTokens) || !isCount(cachedTokens)) return undefined;
  if (!isCount(completionTokens) || !isCount(reasoningTokens)) return undefined;
  return { promptTokens, cachedTokens, completionTokens, reasoningTokens };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
