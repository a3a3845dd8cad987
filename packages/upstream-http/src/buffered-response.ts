import type { RequestBytes } from './connection.ts';
import type { Deadlines } from './deadlines.ts';
import { ERROR_BYTES_MAX, type ErrorResponse, Exchange, notUtf8, OK } from './exchange.ts';
import { type LargeBodies, type LargeBody, SMALL_BYTES_MAX } from './large-bodies.ts';
import type { RequestError } from './request-error.ts';
import { Utf8Decoder } from './utf8-decoder.ts';

/** A response that arrived as a whole, or as much of it as is allowed. */
export interface BufferedResponse {
  readonly status: number;
  /** The text of the body. It is undefined if the status is not 200. */
  readonly text: string | undefined;
  /** The response as an error. It is set if the status is not 200. */
  readonly error: ErrorResponse | undefined;
  /** The body was larger than is allowed. `text` is its beginning. */
  readonly isCut: boolean;
  /** The body if it is large. The caller must leave it once nothing of the body is needed any more. */
  readonly large: LargeBody | undefined;
}

export interface BufferedLimits {
  /**
   * The limit runs from the call to the last byte of the response, without the time in which a large body waits for
   * room.
   */
  readonly timeoutMs: number;
  /** A larger body is cut here, and its connection closed. */
  readonly bytesMax: number;
  /** Headers of this request alone, beside those of its endpoint. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A request whose response is delivered once: when all of it has arrived, or as much as is allowed. */
export class BufferedExchange extends Exchange {
  readonly response: Promise<BufferedResponse>;
  readonly #limits: BufferedLimits;
  readonly #resolve: (response: BufferedResponse) => void;
  readonly #reject: (error: RequestError) => void;
  readonly #decoder = new Utf8Decoder();
  #text = '';
  #bytes = 0;
  readonly #largeBodies: LargeBodies;
  #large: LargeBody | undefined;

  constructor(request: RequestBytes, deadlines: Deadlines, limits: BufferedLimits, largeBodies: LargeBodies) {
    super(request, deadlines);
    this.#largeBodies = largeBodies;
    const { promise, resolve, reject } = Promise.withResolvers<BufferedResponse>();
    this.response = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#limits = limits;
    this.expireIn(limits.timeoutMs);
  }

  override onHead(status: number, lines: string): void {
    super.onHead(status, lines);
    if (status !== OK) this.expireError();
  }

  onData(bytes: Buffer): void {
    if (this.isOver) return;
    if (this.status !== OK) return this.#onErrorData(bytes);
    const bytesLeft = this.#limits.bytesMax - this.#bytes;
    this.#bytes += bytes.length;
    // A character that is torn by the cut stays in the decoder.
    const text = this.#decoder.decode(bytes.subarray(0, bytesLeft));
    if (text === undefined) return this.end(notUtf8());
    // Pieces are added up: V8 joins them once, when the text is parsed.
    this.#text += text;
    if (this.#bytes > this.#limits.bytesMax) {
      this.#respond(true);
      this.abort();
    } else if (this.#large === undefined && this.#bytes > SMALL_BYTES_MAX) this.#enter();
  }

  override onEnd(): void {
    super.onEnd();
    if (this.status !== OK) this.#respondError();
    else if (this.#decoder.isComplete) this.#respond(false);
    else this.fail(notUtf8());
  }

  protected override fail(error: RequestError): void {
    this.#large?.leave();
    // An error whose body never came is one all the same.
    if (this.status > 0 && this.status !== OK) this.#respondError();
    else this.#reject(error);
  }

  /** Takes the beginning of an error. Its connection is closed at the limit, because the rest would have to be read. */
  #onErrorData(bytes: Buffer): void {
    this.#text += this.#decoder.decode(bytes.subarray(0, ERROR_BYTES_MAX - this.#bytes)) ?? '';
    this.#bytes += bytes.length;
    if (this.#bytes > ERROR_BYTES_MAX) this.abort();
  }

  #respondError(): void {
    const error = { text: this.#text, retryAfterMs: this.retryAfterMs, head: this.head };
    this.#resolve({ status: this.status, text: undefined, error, isCut: false, large: undefined });
  }

  /** Stops reading until there is room for a large body. The timeout stops too: the upstream is not slow, we are. */
  #enter(): void {
    const { ticksLeft } = this;
    const large = this.#largeBodies.enter(() => {
      if (this.isOver) return;
      this.ticksLeft = ticksLeft;
      this.connection?.resume();
    });
    this.#large = large;
    if (large.isInside) return;
    this.ticksLeft = Number.POSITIVE_INFINITY;
    this.connection?.pause();
  }

  /** Hands over what has arrived, and its place with it. */
  #respond(isCut: boolean): void {
    const large = this.#large;
    this.#large = undefined;
    this.#resolve({ status: this.status, text: this.#text, error: undefined, isCut, large });
    this.#text = '';
  }
}
