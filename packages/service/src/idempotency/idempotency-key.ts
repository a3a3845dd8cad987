import { hmacSha256 } from '#kernel/crypto/crypto.ts';
import type { AppId, EndUserId, Mode } from '#kernel/values/ids.ts';

/**
 * Identifies a call that may be a retry or may be retried (CC-14). The digests are HMACs, so the database learns nothing
 * about what was sent.
 */
export interface IdempotencyKey {
  /** The same for the original call and all its retries. */
  readonly digest: Buffer;
  /** The digest of the body alone. A retry with the same key and another body is refused. */
  readonly body: Buffer;
  /**
   * Tells whether every answer is kept and replayed, because the caller sent an `idempotency-key` or its API key joins
   * what has the same body.
   */
  readonly isKeyed: boolean;
  /**
   * Tells whether the call may be a retry. If so, the answer of an earlier call is looked for before a new call is
   * made.
   */
  readonly joins: boolean;
  /** How long the answer is kept. */
  readonly keptMs: number;
}

/** Answers are kept for as long as anybody may still retry. */
const KEPT_MS = 5 * 60_000;

/** The scope within which calls are compared. Nothing is ever shared between scopes. */
interface IdempotencyScope {
  readonly appId: AppId;
  readonly mode: Mode;
  readonly userId: EndUserId;
}

/** A call that may be repeated. Its answer was written for one wire, and is none for a caller on another. */
export interface RepeatableCall extends IdempotencyScope {
  readonly wire: string;
}

/** What the caller's headers say about retries. */
interface RetryMark {
  readonly key: string | undefined;
  readonly joins: boolean;
  /** The seconds after its end for which a call joins others with the same body. Null if the API key joins none. */
  readonly joinSeconds: number | null;
}

/** Computes the digests by which retries find the original call. */
export interface IdempotencyDigests {
  readonly keyOf: (call: RepeatableCall, mark: RetryMark, body: Buffer | string) => IdempotencyKey;
  /** Names a request to one model, for use in this process's memory. */
  readonly requestOf: (scope: IdempotencyScope, model: string, request: string) => string;
}

/** With 128 bits, two calls never collide by chance, and without the key nobody can construct two that do. */
const DIGEST_BYTES = 16;

/** Takes a `key` that the database keeps. After a change of `PURSER_SECRET`, a retry still finds its first attempt. */
export function createIdempotencyDigests(key: Buffer): IdempotencyDigests {
  // JSON.stringify never writes a line break, so the head ends at the first one and no two inputs hash the same bytes.
  function digestOf(
    { appId, mode, userId }: IdempotencyScope,
    use: readonly string[],
    content: string | Buffer,
  ): Buffer {
    const head = `${JSON.stringify([appId, mode, userId, ...use])}\n`;
    return hmacSha256(key, head, content).subarray(0, DIGEST_BYTES);
  }

  return {
    keyOf: (call, { key: name, joins, joinSeconds }, bytes) => {
      const form = call.wire === 'chat' ? [] : [call.wire]; // As before there were others: a repeat may come across an upgrade.
      const body = digestOf(call, ['body', ...form], bytes);
      const always = { body, isKeyed: true, joins: true };
      if (name !== undefined) return { ...always, digest: digestOf(call, ['key'], name), keptMs: KEPT_MS };
      // A digest of its own: keys that do not join are never given what was kept for this.
      if (joinSeconds !== null)
        return { ...always, digest: digestOf(call, ['joined', ...form], bytes), keptMs: joinSeconds * 1_000 };
      return { digest: body, body, isKeyed: false, joins, keptMs: KEPT_MS };
    },
    requestOf: (scope, model, request) => digestOf(scope, ['request', model], request).toString('base64'),
  };
}
