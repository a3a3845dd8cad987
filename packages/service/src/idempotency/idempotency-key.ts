import { deriveKey, hmacSha256 } from '#kernel/crypto.ts';
import type { AppId, EndUserId, Mode } from '#kernel/ids.ts';

/** A call that may be a retry, or that may be retried (CC-14). Its digests are keyed: they say nothing of what was sent. */
export interface IdempotencyKey {
  /** The same for all attempts at one call of one user. */
  readonly digest: Buffer;
  readonly body: Buffer;
  /** The caller named it by an `idempotency-key`. */
  readonly isKeyed: boolean;
  /** It may be a retry: an earlier attempt comes before a call of its own. */
  readonly joins: boolean;
}

/** Whose calls are compared: nothing is ever shared beyond it. */
export interface IdempotencyScope {
  readonly appId: AppId;
  readonly mode: Mode;
  readonly userId: EndUserId;
}

/** What the caller's headers say of an attempt. */
interface RetryMark {
  readonly key: string | undefined;
  readonly joins: boolean;
}

export interface IdempotencyDigests {
  readonly keyOf: (scope: IdempotencyScope, mark: RetryMark, body: Buffer) => IdempotencyKey;
  /** Names a request to one model, for as long as this process runs. */
  readonly requestOf: (scope: IdempotencyScope, model: string, request: string) => string;
}

/** 128 bits: no two calls meet by chance, and nobody without the key can make two that do. */
const DIGEST_BYTES = 16;

export function createIdempotencyDigests(secret: Buffer): IdempotencyDigests {
  const key = deriveKey(secret, 'attempts');

  // JSON without spaces holds no line break, so that no two lists of parts run into the same bytes.
  function digestOf(
    { appId, mode, userId }: IdempotencyScope,
    use: readonly string[],
    content: string | Buffer,
  ): Buffer {
    const head = `${JSON.stringify([appId, mode, userId, ...use])}\n`;
    return hmacSha256(key, head, content).subarray(0, DIGEST_BYTES);
  }

  return {
    keyOf: (scope, { key: name, joins }, bytes) => {
      const body = digestOf(scope, ['body'], bytes);
      if (name === undefined) return { digest: body, body, isKeyed: false, joins };
      return { digest: digestOf(scope, ['key'], name), body, isKeyed: true, joins: true };
    },
    requestOf: (scope, model, request) => digestOf(scope, ['request', model], request).toString('base64'),
  };
}
