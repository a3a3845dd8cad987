/** A key that calls are sent with. An adapter has one and asks it before each request. */
export interface KeySource {
  /** Its name in the settings, or its variable. For logs and metrics. */
  readonly name: string;
  /** It is a token, sent as `authorization: Bearer` even if the vendor takes keys in another header. */
  readonly isToken: boolean;
  /** The key. Mostly at once; a promise while it must be fetched. Throws or rejects with an `UpstreamError` if there is none. */
  readonly current: () => string | Promise<string>;
  /** The provider has refused this key (its 401): it is fetched again for the next call, if it can be. */
  readonly refused: (key: string) => void;
}

/** A key that stays the same as long as the process runs. */
export function fixedKey(name: string, key: string): KeySource {
  return { name, isToken: false, current: () => key, refused: () => {} };
}
