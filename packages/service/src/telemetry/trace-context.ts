import type { BeginSpan } from '#gateway/call/call-span.ts';
import { randomBytes } from '#kernel/crypto/random.ts';
import type { Sampler } from '#telemetry/settings.ts';

/** The header has version, trace, span and flags, in small letters. A later version may have more behind them. */
const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const HEADER_CHARACTERS_MAX = 512;
const NOTHING = /^0+$/;
const SAMPLED = 1;
const TRACE_BYTES = 16;
const SPAN_BYTES = 8;

/** One member of a `tracestate`: a key, perhaps with a tenant before it, and a value. */
const MEMBER =
  /^[a-z0-9][a-z0-9_\-*/]{0,255}(@[a-z][a-z0-9_\-*/]{0,13})?=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;
const MEMBERS_MAX = 32;

interface Parent {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** Reads a `traceparent` (W3C Trace Context, level 1). Undefined if it is not valid. */
export function parseTraceparent(value: unknown): Parent | undefined {
  if (typeof value !== 'string' || value.length > HEADER_CHARACTERS_MAX) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(value) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (NOTHING.test(traceId) || NOTHING.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** Reads a `tracestate`. Undefined if any of it is not valid: the standard lets a receiver drop all of it. */
export function parseTracestate(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > HEADER_CHARACTERS_MAX) return undefined;
  const members = value
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '');
  if (members.length === 0 || members.length > MEMBERS_MAX) return undefined;
  if (!members.every((member) => MEMBER.test(member))) return undefined;
  const keys = new Set(members.map((member) => member.slice(0, member.indexOf('='))));
  return keys.size === members.length ? members.join(',') : undefined;
}

/**
 * Begins spans: in the caller's trace if it named one, otherwise in a new one. A sampler that follows the parent takes the
 * caller's decision; otherwise the trace's id decides, so that all services that sample by it agree.
 */
export function createBeginSpan({ followsParent, share }: Sampler): BeginSpan {
  return (traceparent, tracestate) => {
    const parent = parseTraceparent(traceparent);
    const traceId = parent?.traceId ?? randomBytes(TRACE_BYTES).toString('hex');
    return {
      traceId,
      spanId: randomBytes(SPAN_BYTES).toString('hex'),
      parentId: parent?.spanId,
      isSampled: parent !== undefined && followsParent ? parent.isSampled : isWithin(share, traceId),
      state: parent && parseTracestate(tracestate),
    };
  };
}

const RANDOM_DIGITS = 12;
const RANDOM_RANGE = 16 ** RANDOM_DIGITS;

/** Whether a trace is in a share of all. The end of its id is random, also if another system has put a time before it. */
function isWithin(share: number, traceId: string): boolean {
  if (share >= 1) return true;
  return Number.parseInt(traceId.slice(-RANDOM_DIGITS), 16) >= (1 - share) * RANDOM_RANGE;
}
