import type { RequestBytes } from './connection.ts';
import type { Deadlines } from './deadlines.ts';
import { Exchange, notUtf8 } from './exchange.ts';
import { RequestError } from './request-error.ts';
import { Utf8Decoder } from './utf8-decoder.ts';

/** A response that arrived as a whole, or as much of it as is allowed. */
export interface BufferedResponse {
  readonly status: number;
  /** Undefined if the status is not 200: the body of any other response is not read. */
  readonly text: string | undefined;
  /** The body was larger than is allowed. `text` is its beginning. */
  readonly isCut: boolean;
}

export interface BufferedLimits {
  /** From the call to the last byte of the response. */
  readonly timeoutMs: number;
  /** A larger body is cut here, and its connection closed. */
  readonly bytesMax: number;
}

const OK = 200;

/** A request whose response is delivered once: when all of it has arrived, or as much as is allowed. */
export class BufferedExchange extends Exchange {
  readonly response: Promise<BufferedResponse>;
  readonly #limits: BufferedLimits;
  readonly #resolve: (response: BufferedResponse) => void;
  readonly #reject: (error: RequestError) => void;
  readonly #decoder = new Utf8Decoder();
  #text = '';
  #bytes = 0;

  constructor(request: RequestBytes, deadlines: Deadlines, limits: BufferedLimits) {
    super(request, deadlines);
    const { promise, resolve, reject } = Promise.withResolvers<BufferedResponse>();
    this.response = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#limits = limits;
    this.expireIn(limits.timeoutMs);
  }

  override onHead(status: number): void {
    super.onHead(status);
    if (status === OK) return;
    // The body of an error may hold anything. The connection is closed, because the rest of it would have to be read.
    this.#resolve({ status, text: undefined, isCut: false });
    this.abort();
  }

  onData(bytes: Buffer): void {
    if (this.isOver) return;
    const bytesLeft = this.#limits.bytesMax - this.#bytes;
    this.#bytes += bytes.length;
    // A character that is torn by the cut stays in the decoder.
    const text = this.#decoder.decode(bytes.subarray(0, bytesLeft));
    if (text === undefined) return this.end(notUtf8());
    // Pieces are added up: V8 joins them once, when the text is parsed.
    this.#text += text;
    if (this.#bytes > this.#limits.bytesMax) {
      this.#resolve({ status: this.status, text: this.#text, isCut: true });
      this.abort();
    }
  }

  override onEnd(): void {
    super.onEnd();
    if (this.#decoder.isComplete) this.#resolve({ status: this.status, text: this.#text, isCut: false });
    else this.#reject(notUtf8());
  }

  protected override fail(error: RequestError): void {
    this.#reject(error);
  }
}
