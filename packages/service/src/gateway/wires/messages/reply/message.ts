import type { ReplyCall, ToldUsage } from '#gateway/call/wire.ts';
import type { Echo } from '#gateway/wires/messages/conversation/echo.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import type { FinishReason, UsageReport } from '#providers/port/completion.ts';

/** Members that the vendor’s types demand, and that nothing here has a value for. */
const UNSAID: JsonObject = { container: null, diagnostics: null };

/** The members that every Message of one call has. */
export function messageHead({ callId, model }: ReplyCall): JsonObject {
  return { id: `msg_${callId}`, type: 'message', role: 'assistant', model: model.id, ...UNSAID };
}

/** What else decides why an answer ended. */
export interface Ended {
  readonly reason: FinishReason | null;
  /** The stop sequence that the provider says has ended the answer. */
  readonly sequence: unknown;
  readonly hasCalls: boolean;
  readonly hasRefused: boolean;
}

/** Why an answer ended, in the words of this wire. */
export function stopOf({ reason, sequence, hasCalls, hasRefused }: Ended, { stopSequences }: Echo): JsonObject {
  const isSequence = typeof sequence === 'string' && stopSequences.includes(sequence);
  const isWhole = reason !== 'length' && reason !== 'content_filter';
  const word = !isWhole
    ? INCOMPLETE[reason]
    : hasCalls
      ? 'tool_use'
      : hasRefused
        ? 'refusal'
        : isSequence
          ? 'stop_sequence'
          : 'end_turn';
  return {
    stop_reason: word,
    stop_sequence: word === 'stop_sequence' ? sequence : null,
    stop_details: word === 'refusal' ? { type: 'refusal', category: null, explanation: null } : null,
  };
}

const INCOMPLETE = { length: 'max_tokens', content_filter: 'refusal' } as const;

/** The stop of an answer that is on its way. */
export const NO_STOP: JsonObject = { stop_reason: null, stop_sequence: null, stop_details: null };

/** The usage of a message that has begun: what its first chunk tells of the prompt, or else our guess. */
export function begunUsage({ prompt }: ReplyCall, report: UsageReport | undefined): JsonObject {
  const { prompt: all = prompt.tokensEstimated, cached = 0, cacheWrite = 0, cacheWriteLong = 0 } = report?.counts ?? {};
  const written = cacheWrite + cacheWriteLong;
  const counts = {
    input_tokens: Math.max(0, all - cached - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    output_tokens: 0,
  };
  const creation = { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: cacheWriteLong };
  return { ...usageWith(counts), ...UNKNOWN_USAGE, ...(written > 0 && { cache_creation: creation }) };
}

/** The usage that a caller is told. The vendor counts tokens of the cache apart from the rest of the prompt. */
export function countedUsage({ usage, cacheWriteLong = 0 }: ToldUsage): JsonObject {
  const { prompt_tokens: prompt, completion_tokens: output } = usage;
  const { cached_tokens: cached, cache_write_tokens: short } = partsOf(usage['prompt_tokens_details']);
  const { reasoning_tokens: thinking } = partsOf(usage['completion_tokens_details']);
  const written = countOf(short) + cacheWriteLong;
  return usageWith({
    input_tokens: Math.max(0, countOf(prompt) - countOf(cached) - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: countOf(cached),
    output_tokens: countOf(output),
    output_tokens_details: thinking === undefined ? null : { thinking_tokens: countOf(thinking) },
  });
}

/** The same with the members that only whole messages have. */
export function wholeUsage(told: ToldUsage): JsonObject {
  const usage = countedUsage(told);
  const { cacheWriteLong = 0 } = told;
  const short = countOf(usage['cache_creation_input_tokens']) - cacheWriteLong;
  return {
    ...usage,
    ...UNKNOWN_USAGE,
    cache_creation: { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: cacheWriteLong },
  };
}

/** What only whole messages have of a usage. Tiers say what the operator pays. */
const UNKNOWN_USAGE: JsonObject = { cache_creation: null, inference_geo: null, service_tier: null, speed: null };

function usageWith(counts: JsonObject): JsonObject {
  return {
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens_details: null,
    server_tool_use: null,
    ...counts,
  };
}

function partsOf(details: unknown): JsonObject {
  return isJsonObject(details) ? details : {};
}

function countOf(count: unknown): number {
  return typeof count === 'number' ? count : 0;
}
