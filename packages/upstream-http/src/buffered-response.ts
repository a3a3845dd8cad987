import type { Deadlines } from '#providers/http/deadlines.ts';
import type { RequestBytes } from '#providers/http/connection.ts';
import { Exchange, garbled } from '#providers/http/exchange.ts';
import { Utf8Text } from '#providers/http/utf8-text.ts';
import { UpstreamError } from '#providers/provider.ts';

/** An answer, all of it. */
export interface WholeAnswer {
  readonly status: number;
  /** Undefined where the status is another than 200: what else there is stays unread. */
  readonly text: string | undefined;
}

export interface WholeLimits {
  /** From the call to the last byte. */
  readonly msMax: number;
  readonly bytesMax: number;
}

const OK = 200;

/** A request whose answer is wanted at once, when all of it is there. */
export class WholeExchange extends Exchange {
  readonly answer: Promise<WholeAnswer>;
  readonly #limits: WholeLimits;
  readonly #resolve: (answer: WholeAnswer) => void;
  readonly #reject: (error: UpstreamError) => void;
  readonly #text = new Utf8Text();
  #read = '';
  #bytes = 0;

  constructor(request: RequestBytes, deadlines: Deadlines, limits: WholeLimits) {
    super(request, deadlines);
    const { promise, resolve, reject } = Promise.withResolvers<WholeAnswer>();
    this.answer = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#limits = limits;
    this.within(limits.msMax);
  }

  override onHead(status: number): void {
    super.onHead(status);
    if (status === OK) return;
    this.#resolve({ status, text: undefined });
    this.giveUp();
  }

  onData(bytes: Buffer): void {
    if (this.isOver) return;
    this.#bytes += bytes.length;
    const text = this.#text.take(bytes);
    if (text === undefined) this.end(garbled());
    else if (this.#bytes <= this.#limits.bytesMax) this.#read += text;
    else this.end(new UpstreamError('malformed', 'The provider sent too large an answer.'));
  }

  override onEnd(): void {
    super.onEnd();
    if (this.#text.isWhole) this.#resolve({ status: this.status, text: this.#read });
    else this.#reject(garbled());
  }

  protected override fail(error: UpstreamError): void {
    this.#reject(error);
  }
}
