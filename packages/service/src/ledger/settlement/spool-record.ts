import { codingAgentOf, type CallSession, isSessionName } from '#kernel/calls/call-session.ts';
import { type CallId, type CorrelationId, parseCallId, parseCorrelationId } from '#kernel/values/ids.ts';
import { isJsonObject, parseJson } from '#kernel/text/json.ts';
import { micros, MICROS_MAX } from '#kernel/values/micros.ts';
import { RARE_COUNT_NAMES, type Settlement } from '#ledger/settlement/settlement.ts';

/**
 * Writes a settlement as one line of JSON. Amounts are decimal strings, because a JSON number loses micros above 2^53. The
 * line holds ids and figures only, never a word of a prompt or an answer.
 */
export function lineOf({ charge, priceId, ...rest }: Settlement): string {
  return `${JSON.stringify({ ...rest, charge: String(charge), priceId: priceId?.toString() })}\n`;
}

interface SpooledSettlements {
  readonly settlements: readonly Settlement[];
  /** How many lines are not a settlement. A torn last line does not count. */
  readonly malformed: number;
  /** The last line was cut off while it was written. Its caller never heard that it was kept. */
  readonly isTorn: boolean;
}

/**
 * Reads the settlements of a file, each call once. If the last line cannot be read, its process or machine died while
 * writing it. That is expected and loses nothing, because the line was never acknowledged. Any other bad line is damage.
 */
export function readSpooled(text: string): SpooledSettlements {
  const lines = text.split('\n');
  const isTorn = lines.pop() !== '';
  const read = lines.map((line) => settlementOf(parseJson(line)));
  // The line break may reach the disk before the rest of its line, so a last line that looks finished can be torn too.
  const endsMalformed = !isTorn && lines.length > 0 && read.at(-1) === undefined;
  // An owner that lost its file writes its lines again, so a call may appear twice. Both lines say the same.
  const byCall = new Map<CallId, Settlement>();
  for (const settlement of read) if (settlement !== undefined) byCall.set(settlement.callId, settlement);
  const malformed = read.filter((settlement) => settlement === undefined).length - Number(endsMalformed);
  return { settlements: [...byCall.values()], malformed, isTorn: isTorn || endsMalformed };
}

const OUTCOMES: readonly string[] = ['answered', 'abandoned', 'failed'] satisfies Settlement['outcome'][];
const DECIMAL = /^\d{1,19}$/;

/**
 * Reads one line of a file, parsed. Checks each field, because a file may be damaged or of another version. Money is never booked from a line that is only
 * nearly right. `isUnkept` is not read: no retry can wait for the answer of a process that is gone.
 */
export function settlementOf(record: unknown): Settlement | undefined {
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
    session: sessionIn(record['session']),
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

/** Nothing is charged by a session, so a damaged one is left out, and the rest of the line counts. */
function sessionIn(value: unknown): CallSession | undefined {
  if (!isJsonObject(value)) return undefined;
  const { name, client, wire } = value;
  if (typeof name !== 'string' || !isSessionName(name) || typeof wire !== 'string' || !isSessionName(wire))
    return undefined;
  return { name, client: codingAgentOf(client), wire };
}

function usageOf(value: unknown): Settlement['usage'] | undefined {
  if (!isJsonObject(value)) return undefined;
  // A line of a version that did not count writes to a cache has none.
  const { promptTokens, cachedTokens, cacheWriteTokens = 0, completionTokens, reasoningTokens } = value;
  if (!isCount(promptTokens) || !isCount(cachedTokens) || !isCount(cacheWriteTokens)) return undefined;
  if (!isCount(completionTokens) || !isCount(reasoningTokens)) return undefined;
  const usage = { promptTokens, cachedTokens, cacheWriteTokens, completionTokens, reasoningTokens };
  // Most lines have none, and those of a version that did not know them have none either.
  const told = value['rare'];
  if (told === undefined) return usage;
  if (!isJsonObject(told)) return undefined;
  const counts = RARE_COUNT_NAMES.map((name) => [name, told[name]] as const);
  if (!counts.every(([, count]) => isCount(count))) return undefined;
  return { ...usage, rare: Object.fromEntries(counts) as NonNullable<Settlement['usage']['rare']> };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
