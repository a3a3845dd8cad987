import type { RequestBytes } from './connection.ts';
import type { Deadlines } from './deadlines.ts';
import { Exchange, notUtf8 } from './exchange.ts';
import { RequestError } from './request-error.ts';
import { Utf8Decoder } from './utf8-decoder.ts';

/** A response that arrived as a whole. */
export interface BufferedResponse {
  readonly status: number;
  /** Undefined if the status is not 200: the body of any other response is not read. */
  readonly text: string | undefined;
}

export interface BufferedLimits {
  /** From the call to the last byte of the response. */
  readonly timeoutMs: number;
  /** The largest body that is accepted. */
  readonly bytesMax: number;
}

const OK = 200;

/** A request whose response is delivered once, when all of it has arrived. */
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
    this.#resolve({ status, text: undefined });
    this.abort();
  }

  onData(bytes: Buffer): void {
    if (this.isOver) return;
    this.#bytes += bytes.length;
    const text = this.#decoder.decode(bytes);
    if (text === undefined) this.end(notUtf8());
    // Pieces are added up: V8 joins them once, when the text is parsed.
    else if (this.#bytes <= this.#limits.bytesMax) this.#text += text;
    else this.end(new RequestError('body', 'The upstream sent a larger response than is allowed.'));
  }

  override onEnd(): void {
    super.onEnd();
    if (this.#decoder.isComplete) this.#resolve({ status: this.status, text: this.#text });
    else this.#reject(notUtf8());
  }

  protected override fail(error: RequestError): void {
    this.#reject(error);
  }
}
