import { type Access, ask, type CallOptions } from './api.ts';
import { type Charge, tellCharge } from './charge.ts';
import type { Fetch } from './platform.ts';
import { keyCalls } from './retries.ts';
import { type TopUpOptions, withTopUp } from './top-up.ts';
import type { Balance, ConnectLink, Receipt, UsageSummary } from './wire.ts';

/** The interfaces by which a user is charged. */
const CALL_PATHS: ReadonlySet<string> = new Set([
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/messages',
  '/v1/embeddings',
]);
const USER_ID = /^[\x21-\x7e]{1,256}$/;

export interface PurserOptions {
  /** The root address of the service, without `/v1`: `https://purser.example`. */
  readonly baseURL: string;
  /** The app's key. Keep it on your server: anybody who has it can spend for every user. */
  readonly apiKey: string;
  /** Replaces the platform's `fetch`. */
  readonly fetch?: Fetch | undefined;
}

export interface ConnectOptions extends CallOptions {
  /** The address to which the user returns. It must match one of the app's `redirectUris`, character by character. */
  readonly redirectUri: string;
  /** A value of your own, which is added to the query of `redirectUri`. */
  readonly state?: string | undefined;
  /** Shows the user which account of the app they connect: an e-mail or a name. */
  readonly userLabel?: string | undefined;
}

export interface UsageOptions extends CallOptions {
  /** A month in UTC, such as `2026-01`. The default is the current month. */
  readonly month?: string | undefined;
}

export interface UserOptions {
  /**
   * It is called with what each call was charged, plain or streamed, when `fetch` has read it. It must not throw:
   * a client would take that for a broken connection.
   */
  readonly onCharge?: ((charge: Charge) => void) | undefined;
}

/** The client of Purser for one app. It sends nothing until a method is called. */
export class Purser {
  readonly #access: Access;

  /** Throws a `TypeError` if the address or the key is malformed. */
  constructor({ baseURL, apiKey, fetch = (...request) => globalThis.fetch(...request) }: PurserOptions) {
    if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey))
      throw new TypeError('`apiKey` is missing or malformed.');
    this.#access = { root: rootOf(baseURL), apiKey, send: fetch, sendChat: keyCalls(fetch) };
  }

  /** Returns one user, by the app's own name for them. Throws a `TypeError` if the name is malformed. */
  forUser(userId: string, options: UserOptions = {}): PurserUser {
    return new PurserUser(this.#access, userId, options);
  }

  /** Returns the user's wallet. Throws `PaymentRequiredError` if there is none, and with a test key; otherwise `ServiceApiError`. */
  balance(userId: string, options?: CallOptions): Promise<Balance> {
    return this.forUser(userId).balance(options);
  }

  /** Creates a link to the page where the user connects a wallet to the app. Throws `ServiceApiError`. */
  connect(userId: string, options: ConnectOptions): Promise<ConnectLink> {
    return this.forUser(userId).connect(options);
  }

  /** Returns what the user spent through the app in a month. It is empty with a test key. Throws `ServiceApiError`. */
  usageSummary(userId: string, options?: UsageOptions): Promise<UsageSummary> {
    return this.forUser(userId).usageSummary(options);
  }

  /**
   * Returns what one call of the user used and cost. Throws `ServiceApiError` with `NOT_FOUND` if there is no such call, if it is
   * still running, and with a test key.
   */
  receipt(userId: string, callId: string, options?: CallOptions): Promise<Receipt> {
    return this.forUser(userId).receipt(callId, options);
  }
}

/** One user of the app: the settings of chat clients, and the same calls as on `Purser`. */
export class PurserUser {
  readonly userId: string;
  /** The base address for chat clients: the root address and `/v1`. */
  readonly baseURL: string;
  /** Tells the service which user pays. */
  readonly headers: Readonly<Record<'x-service-user', string>>;
  /**
   * A `fetch` that adds the key and the user to requests to the service and leaves all others alone. Every answer is
   * returned unchanged, even a 402: a client would take an error of `fetch` for a broken connection and retry. A call
   * without an `idempotency-key` gets one, and its retries the same one, so that the service does not charge it twice.
   */
  readonly fetch: Fetch;
  readonly #access: Access;

  constructor(access: Access, userId: string, { onCharge }: UserOptions = {}) {
    // A missing name would become the text `undefined`: one wallet shared by all users without a name.
    if (typeof userId !== 'string' || !USER_ID.test(userId)) {
      throw new TypeError('`userId` must be 1 to 256 visible ASCII characters, without spaces.');
    }
    this.userId = userId;
    this.baseURL = `${access.root}/v1`;
    this.headers = { 'x-service-user': userId };
    const signed = signedFetch(access, userId);
    this.fetch = onCharge ? async (...request) => tellCharge(await signed(...request), onCharge) : signed;
    this.#access = access;
  }

  /** The app's key. A getter of a private field, so that logging a user does not print it. */
  get apiKey(): string {
    return this.#access.apiKey;
  }

  /** Returns the options for `new OpenAI(...)`. */
  openai(): { baseURL: string; apiKey: string; defaultHeaders: Record<string, string>; fetch: Fetch } {
    const { baseURL, apiKey, headers, fetch } = this;
    return { baseURL, apiKey, defaultHeaders: { ...headers }, fetch };
  }

  /** Returns the options for `new Anthropic(...)`, whose base address is the root. */
  anthropic(): { baseURL: string; apiKey: string; defaultHeaders: Record<string, string>; fetch: Fetch } {
    return { ...this.openai(), baseURL: this.#access.root };
  }

  /** Returns the options for `createOpenAICompatible({ name: 'purser', ... })`, `createOpenAI(...)` or `createAnthropic(...)` of the AI SDK. */
  aiSdk(): { baseURL: string; apiKey: string; headers: Record<string, string>; fetch: Fetch } {
    const { baseURL, apiKey, headers, fetch } = this;
    return { baseURL, apiKey, headers: { ...headers }, fetch };
  }

  /** Returns the options for `new ChatOpenAI({ model, ... })` of LangChain. */
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

  receipt(callId: string, options: CallOptions = {}): Promise<Receipt> {
    return ask(this.#access, { ...options, path: `/calls/${encodeURIComponent(callId)}`, userId: this.userId });
  }

  /**
   * Runs a call like `guard`. If it is refused with a 402 and a link, this passes the link to `onTopUp` and waits until the
   * wallet has more money, or the cap is higher if the cap was the reason. Then it runs the call once more and returns or
   * throws the outcome. If money that was set aside for other calls returns meanwhile, it tries the call early,
   * and waits on after the same refusal. Throws the `PaymentRequiredError` if there is no link, if the time is up, and with
   * a test key unless `until` says when to go on.
   */
  withTopUp<Result>(call: () => Result | PromiseLike<Result>, options: TopUpOptions): Promise<Awaited<Result>> {
    const isSandbox = this.apiKey.startsWith('svc_test_');
    return withTopUp({ isSandbox, balance: (how) => this.balance(how) }, call, options);
  }
}

function rootOf(baseURL: string): string {
  // The platform's own error would contain the address, and with it a password.
  const root = URL.canParse(baseURL) ? new URL(baseURL).href.replace(/\/+$/, '') : '';
  if (!/^https?:\/\/[^/@?#]+(\/[^?#]*)?$/.test(root) || root.endsWith('/v1')) {
    throw new TypeError(
      '`baseURL` must be the root address of the service, such as https://purser.example, without /v1.',
    );
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
    const [path = ''] = href.slice(root.length).split('?'); // Clients of Messages add `?beta=true`.
    const isCall = CALL_PATHS.has(path) && typeof body === 'string';
    if (!isCall || isRequest || headers.has('idempotency-key')) return send(input, { ...init, headers });
    return sendChat({ url: href, userId, body }, { ...init, headers });
  };
}
