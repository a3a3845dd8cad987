import type { Signal } from './abort-signal.ts';
import type { RequestBytes } from './connection.ts';
import type { Deadlines } from './deadlines.ts';
import { ERROR_BYTES_MAX, type ErrorResponse, Exchange, notUtf8, OK } from './exchange.ts';
import type { RequestError } from './request-error.ts';
import { Utf8Decoder } from './utf8-decoder.ts';

/** The connection is paused when more than this waits for a listener. One socket read, 64 KiB, may come on top. */
const BUFFERED_BYTES_MAX = 256 * 1024;

/** A response whose head has arrived and whose body is delivered as it arrives. */
export interface StreamedResponse {
  readonly status: number;
  /**
   * Delivers the text that waits, at once, and then each later piece in the turn in which the socket delivers it.
   * Without a listener the text waits here, and back-pressure holds up the upstream.
   */
  readonly listen: (listener: ResponseListener | undefined) => void;
  /**
   * Says that nothing but the end of the body is expected, within `timeoutMs`, so that the connection can be kept for
   * another request. If more text comes, or has come, the request is aborted.
   */
  readonly finish: (timeoutMs: number) => void;
  /** Reads the beginning of a response that is an error, instead of `listen`, and then aborts the request. Never rejects. */
  readonly readError: () => Promise<ErrorResponse>;
  /** Aborts the request. Does nothing if the whole response has arrived. */
  readonly discard: () => void;
}

/** Hears the body of a streamed response. `onEnd` or `onError` is the last call. */
export interface ResponseListener {
  /** Returns true if the text counts as progress, which restarts the silence timeout. */
  readonly onText: (text: string) => boolean;
  readonly onEnd: () => void;
  readonly onError: (error: RequestError) => void;
}

export interface StreamedLimits {
  /** The longest wait for the head, and between two pieces of the body that count as progress. */
  readonly silenceMsMax: number;
  readonly signal: Signal;
  /** Headers of this request alone, beside those of its endpoint. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The body of a good response is no text: each byte is delivered as one character (`latin1`). An error is text all the same. */
  readonly isBinary?: boolean | undefined;
}

/** A request whose response is read as it arrives. */
export class StreamedExchange extends Exchange implements StreamedResponse {
  readonly response: Promise<StreamedResponse>;
  readonly discard = (): void => this.abort();
  readonly #limits: StreamedLimits;
  readonly #opened: PromiseWithResolvers<StreamedResponse>;
  readonly #decoder = new Utf8Decoder();
  #waiting = '';
  #waitingBytes = 0;
  #error: RequestError | undefined;
  #listener: ResponseListener | undefined;
  #isFinishing = false;

  constructor(request: RequestBytes, deadlines: Deadlines, limits: StreamedLimits) {
    super(request, deadlines);
    this.#opened = Promise.withResolvers();
    this.response = this.#opened.promise;
    this.#limits = limits;
    if (limits.signal.aborted) this.abort();
    else limits.signal.addEventListener('abort', this.discard);
  }

  override onSend(connection: Parameters<Exchange['onSend']>[0]): void {
    super.onSend(connection);
    this.#restartTimeout();
  }

  override onInterim(): void {
    this.#restartTimeout();
  }

  override onHead(status: number, lines: string): void {
    super.onHead(status, lines);
    this.#restartTimeout();
    this.#opened.resolve(this);
  }

  onData(bytes: Buffer): void {
    if (this.isOver) return;
    const isBinary = this.#limits.isBinary === true && this.status === OK;
    const text = isBinary ? bytes.toString('latin1') : this.#decoder.decode(bytes);
    if (text === undefined) this.end(notUtf8());
    else if (this.#isFinishing) this.abort();
    else if (this.#listener === undefined) this.#keep(text, bytes.length);
    // The listener may call `finish`, which sets a timeout of its own.
    else if (text !== '' && this.#listener.onText(text) && !this.#isFinishing) this.#restartTimeout();
  }

  override onEnd(): void {
    super.onEnd();
    this.#settle(this.#decoder.isComplete ? undefined : notUtf8());
  }

  protected override fail(error: RequestError): void {
    this.#opened.reject(error);
    this.#settle(error);
  }

  readonly listen = (listener: ResponseListener | undefined): void => {
    this.#listener = listener;
    if (listener === undefined) return;
    const text = this.#waiting;
    this.#waiting = '';
    this.#waitingBytes = 0;
    if (!this.isOver) {
      this.#restartTimeout();
      this.connection?.resume();
    }
    if (text !== '') listener.onText(text);
    this.#deliverEnd();
  };

  readonly readError = (): Promise<ErrorResponse> => {
    const { promise, resolve } = Promise.withResolvers<ErrorResponse>();
    let text = '';
    const finish = (): void => {
      resolve({ text: text.slice(0, ERROR_BYTES_MAX), retryAfterMs: this.retryAfterMs, head: this.head });
      this.abort();
    };
    const onText = (more: string): boolean => {
      text += more;
      if (text.length > ERROR_BYTES_MAX) finish();
      return false; // So that the timeout below counts for all of it.
    };
    this.listen({ onText, onEnd: finish, onError: finish });
    this.expireError();
    return promise;
  };

  readonly finish = (timeoutMs: number): void => {
    this.#listener = undefined;
    this.#isFinishing = true;
    if (this.#waiting !== '') this.abort();
    else if (!this.isOver) this.expireIn(timeoutMs);
  };

  #restartTimeout(): void {
    this.expireIn(this.#limits.silenceMsMax);
  }

  #keep(text: string, bytes: number): void {
    this.#restartTimeout();
    this.#waiting += text;
    this.#waitingBytes += bytes;
    if (this.#waitingBytes <= BUFFERED_BYTES_MAX) return;
    this.connection?.pause();
    this.ticksLeft = Number.POSITIVE_INFINITY; // The upstream is not silent: we have stopped reading.
  }

  #settle(error: RequestError | undefined): void {
    this.#limits.signal.removeEventListener('abort', this.discard);
    this.#error = error;
    this.#deliverEnd();
  }

  /** Calls `onEnd` or `onError` once the listener has received all the text before it. */
  #deliverEnd(): void {
    const listener = this.#listener;
    if (!this.isOver || this.#waiting !== '' || listener === undefined) return;
    this.#listener = undefined;
    if (this.#error === undefined) listener.onEnd();
    else listener.onError(this.#error);
  }
}
