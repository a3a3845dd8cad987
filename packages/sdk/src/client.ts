import { type Access, ask, type CallOptions } from './api.ts';
import type { Fetch } from './platform.ts';
import { markRetries } from './retries.ts';
import { type TopUpOptions, withTopUp } from './top-up.ts';
import type { Balance, ConnectLink, UsageSummary } from './wire.ts';

const USER_ID = /^[\x21-\x7e]{1,256}$/;

export interface PurserOptions {
  /** The root address of the service, without `/v1`: `https://purser.example`. */
  readonly baseURL: string;
  /** The app's key. It belongs on a server: who has it spends for every user. */
  readonly apiKey: string;
  /** Does the requests, in place of the platform's. */
  readonly fetch?: Fetch | undefined;
}

export interface ConnectOptions extends CallOptions {
  /** Where the user goes back to: one of the app's, character by character. */
  readonly redirectUri: string;
  /** Given back with the redirect. */
  readonly state?: string | undefined;
  /** Tells the user which account of the app it is about: an e-mail, a name. */
  readonly userLabel?: string | undefined;
}

export interface UsageOptions extends CallOptions {
  /** A UTC month, as `2026-01`. Left out: this one. */
  readonly month?: string | undefined;
}

/** Purser for one app. Nothing is asked of the service until something is called. */
export class Purser {
  readonly #access: Access;

  /** Throws a `TypeError` where the address or the key cannot be one. */
  constructor({ baseURL, apiKey, fetch = (...request) => globalThis.fetch(...request) }: PurserOptions) {
    if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey))
      throw new TypeError('`apiKey` is missing or malformed.');
    this.#access = { root: rootOf(baseURL), apiKey, send: fetch, sendChat: markRetries(fetch) };
  }

  /** What is done for one user of the app, by the app's own name for that user. Throws a `TypeError` where it cannot be one. */
  forUser(userId: string): PurserUser {
    return new PurserUser(this.#access, userId);
  }

  /** The user's wallet. Throws `PaymentRequiredError` where there is none, and with a test key; else `ServiceApiError`. */
  balance(userId: string, options?: CallOptions): Promise<Balance> {
    return this.forUser(userId).balance(options);
  }

  /** A link to the page where the user connects a wallet to the app. Throws `ServiceApiError`. */
  connect(userId: string, options: ConnectOptions): Promise<ConnectLink> {
    return this.forUser(userId).connect(options);
  }

  /** What the user spent through the app in a month; nothing with a test key. Throws `ServiceApiError`. */
  usageSummary(userId: string, options?: UsageOptions): Promise<UsageSummary> {
    return this.forUser(userId).usageSummary(options);
  }
}

/** One user of the app: the settings of chat clients, and the same calls as on `Purser`. */
export class PurserUser {
  readonly userId: string;
  /** Where chat clients find the models: the root address and `/v1`. */
  readonly baseURL: string;
  /** They tell the service who pays. */
  readonly headers: Readonly<Record<'x-service-user', string>>;
  /**
   * A `fetch` that puts the key and the user on what goes to the service, and leaves everything else alone. What is answered is handed on as
   * it is, a 402 too: a client that has it raised by `fetch` would take it for a broken connection and try again. A chat call without an
   * `idempotency-key` is marked where it is a retry of one that failed, so that a plain one is not charged twice.
   */
  readonly fetch: Fetch;
  readonly #access: Access;

  constructor(access: Access, userId: string) {
    // A missing name would be that of a wallet that all who miss one share.
    if (typeof userId !== 'string' || !USER_ID.test(userId)) {
      throw new TypeError('`userId` has 1 to 256 visible ASCII characters, without spaces.');
    }
    this.userId = userId;
    this.baseURL = `${access.root}/v1`;
    this.headers = { 'x-service-user': userId };
    this.fetch = signedFetch(access, userId);
    this.#access = access;
  }

  /** Of the app. It is not shown where a user is logged. */
  get apiKey(): string {
    return this.#access.apiKey;
  }

  /** For `new OpenAI(...)`. */
  openai(): { baseURL: string; apiKey: string; defaultHeaders: Record<string, string>; fetch: Fetch } {
    const { baseURL, apiKey, headers, fetch } = this;
    return { baseURL, apiKey, defaultHeaders: { ...headers }, fetch };
  }

  /** For `createOpenAICompatible({ name: 'purser', ... })` or `createOpenAI(...)` of the AI SDK. */
  aiSdk(): { baseURL: string; apiKey: string; headers: Record<string, string>; fetch: Fetch } {
    const { baseURL, apiKey, headers, fetch } = this;
    return { baseURL, apiKey, headers: { ...headers }, fetch };
  }

  /** For `new ChatOpenAI({ model, ... })` of LangChain. */
  langchain(): {
    apiKey: string;
    configuration: { baseURL: string; defaultHeaders: Record<string, string>; fetch: Fetch };
  } {
    const { apiKey, ...configuration } = this.openai();
    return { apiKey, configuration };
  }

  balance(options: CallOptions = {}): Promise<Balance> {
    return ask(this.#access, { ...options, path: '/balance', userId: this.userId });
  }

  connect({ redirectUri, state, userLabel, ...options }: ConnectOptions): Promise<ConnectLink> {
    const body = { redirectUri, state, userLabel };
    return ask(this.#access, { ...options, path: '/connect', userId: this.userId, body });
  }

  usageSummary({ month, ...options }: UsageOptions = {}): Promise<UsageSummary> {
    const query = month === undefined ? '' : `?month=${encodeURIComponent(month)}`;
    return ask(this.#access, { ...options, path: `/usage/summary${query}`, userId: this.userId });
  }

  /**
   * Does a call as `guard` does. Refused by a 402 with a link, it hands the link to `onTopUp`, waits until the wallet has more, or the cap is
   * higher where that was reached, and does the call once more: that call's outcome is the result. Where something that other calls had set
   * aside comes back meanwhile it tries the call too, and waits on if it is refused as before. Throws the `PaymentRequiredError` where there is no link,
   * when the time is up, and with a test key unless `until` says when to go on.
   */
  withTopUp<Result>(call: () => Result | PromiseLike<Result>, options: TopUpOptions): Promise<Awaited<Result>> {
    const isSandbox = this.apiKey.startsWith('svc_test_');
    return withTopUp({ isSandbox, balance: (how) => this.balance(how) }, call, options);
  }
}

function rootOf(baseURL: string): string {
  // The platform's own error would show the address, and a password in it.
  const root = URL.canParse(baseURL) ? new URL(baseURL).href.replace(/\/+$/, '') : '';
  if (!/^https?:\/\/[^/@?#]+(\/[^?#]*)?$/.test(root) || root.endsWith('/v1')) {
    throw new TypeError('`baseURL` is the root address of the service, as https://purser.example, without /v1.');
  }
  return root;
}

function signedFetch({ root, apiKey, send, sendChat }: Access, userId: string): Fetch {
  return (input, init) => {
    const isRequest = typeof input === 'object' && 'url' in input;
    const { href } = new URL(isRequest ? input.url : input);
    if (!href.startsWith(`${root}/`)) return send(input, init);
    const headers = new Headers(init?.headers ?? (isRequest ? input.headers : undefined));
    headers.set('authorization', `Bearer ${apiKey}`);
    headers.set('x-service-user', userId);
    const body = init?.body;
    const isChat = href === `${root}/v1/chat/completions` && typeof body === 'string';
    if (!isChat || isRequest || headers.has('idempotency-key')) return send(input, { ...init, headers });
    return sendChat({ url: href, userId, body }, { ...init, headers });
  };
}
