import { Agent, type Dispatcher, errors } from 'undici';
import { UpstreamError } from '#providers/provider.ts';

/** The provider's connection is paused when so much of an answer waits to be read. */
const BUFFERED_BYTES_MAX = 256 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
/** How long a call without an answer waits to be given up: a round trip to most providers. */
const DOUBT_MS = 50;

interface UpstreamRequest {
  readonly origin: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  /** Longest wait for the headers, and between two reads of the body. */
  readonly silenceMsMax: number;
  readonly signal: AbortSignal;
}

export interface UpstreamResponse {
  readonly status: number;
  /** The body as it arrives. Leaving the iteration early ends the request. */
  readonly body: AsyncIterable<Buffer>;
  /** Ends the request without reading its body. */
  readonly discard: () => void;
}

export interface UpstreamHttp {
  /** Sends one POST, never again. Resolves with the headers; throws `UpstreamError`, as does the body. */
  readonly post: (request: UpstreamRequest) => Promise<UpstreamResponse>;
  readonly close: () => Promise<void>;
}

/** HTTP to providers with kept connections. Redirects are not followed: a 3xx is an answer like any other. */
export function createUpstreamHttp(): UpstreamHttp {
  const agent = new Agent({ allowH2: false, connect: { timeout: CONNECT_TIMEOUT_MS } });
  return {
    post: (request) =>
      new Promise((resolve, reject) => {
        const exchange = new Exchange(request.signal, resolve, reject);
        const { origin, path, headers, body, silenceMsMax } = request;
        agent.dispatch(
          { origin, path, method: 'POST', headers, body, headersTimeout: silenceMsMax, bodyTimeout: silenceMsMax },
          exchange,
        );
      }),
    close: () => agent.destroy(),
  };
}

/** One request and its answer: turns the client's callbacks into an iteration that pauses the connection. */
class Exchange implements Dispatcher.DispatchHandler, UpstreamResponse, AsyncIterableIterator<Buffer> {
  status = 0;
  readonly #resolve: (response: UpstreamResponse) => void;
  readonly #reject: (error: UpstreamError) => void;
  readonly #signal: AbortSignal;
  readonly discard = (): void => {
    const controller = this.#controller;
    if (controller === undefined) {
      // Still waiting for a connection: the client will hear of it when it has one, the caller need not.
      this.#reject(new UpstreamError('unsent', 'The call was given up.'));
    } else if (this.status > 0) {
      controller.abort(new UpstreamError('given-up', 'The call was given up.'));
    } else {
      // The request may have gone into a kept connection that the provider had closed. Where word of that comes in
      // time, the call was not given up: it never arrived.
      setTimeout(() => controller.abort(new UpstreamError('given-up', 'The call was given up.')), DOUBT_MS);
    }
  };
  #controller: Dispatcher.DispatchController | undefined;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #isEnded = false;
  #error: UpstreamError | undefined;
  #wake: (() => void) | undefined;

  constructor(
    signal: AbortSignal,
    resolve: (response: UpstreamResponse) => void,
    reject: (error: UpstreamError) => void,
  ) {
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    if (signal.aborted) this.discard();
    else signal.addEventListener('abort', this.discard);
  }

  get body(): AsyncIterable<Buffer> {
    return this;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Without a doubt, and before a byte of it is written: it was told to be unsent.
    if (this.#signal.aborted) controller.abort(new UpstreamError('unsent', 'The call was given up.'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number): void {
    if (statusCode < 200) return;
    this.status = statusCode;
    this.#resolve(this);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes > BUFFERED_BYTES_MAX) controller.pause();
    this.#wake?.();
  }

  onResponseEnd(): void {
    this.#isEnded = true;
    this.#finish();
  }

  onResponseError(_controller: Dispatcher.DispatchController, fault: Error): void {
    this.#error = upstreamErrorOf(fault);
    this.#reject(this.#error);
    this.#finish();
  }

  #finish(): void {
    this.#signal.removeEventListener('abort', this.discard);
    this.#wake?.();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Buffer>> {
    for (;;) {
      if (this.#waiting.length > 0) return { done: false, value: this.#take() };
      if (this.#error !== undefined) throw this.#error;
      if (this.#isEnded) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #take(): Buffer {
    const [only] = this.#waiting;
    const all = this.#waiting.length === 1 && only !== undefined ? only : Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (this.#controller?.paused === true) this.#controller.resume();
    return all;
  }

  async return(): Promise<IteratorResult<Buffer>> {
    if (!this.#isEnded && this.#error === undefined) this.discard();
    return { done: true, value: undefined };
  }
}

function upstreamErrorOf(fault: Error): UpstreamError {
  if (fault instanceof UpstreamError) return fault;
  if (fault instanceof errors.HeadersTimeoutError || fault instanceof errors.BodyTimeoutError) {
    return new UpstreamError('timeout', 'The provider was silent for too long.', { cause: fault });
  }
  return new UpstreamError('outage', 'The connection to the provider failed.', { cause: fault });
}
