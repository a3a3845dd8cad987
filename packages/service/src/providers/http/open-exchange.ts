import type { Deadlines } from '#providers/http/deadlines.ts';
import { Exchange, garbled, type RequestBytes } from '#providers/http/exchange.ts';
import { Utf8Text } from '#providers/http/utf8-text.ts';
import { UpstreamError } from '#providers/provider.ts';

/** The provider's connection is paused when so much of an answer waits to be read. */
const BUFFERED_BYTES_MAX = 256 * 1024;

/** An answer of which the head is there. */
export interface OpenAnswer {
  readonly status: number;
  /** All of it has come, or it has failed: what was not read can still be read. */
  readonly isOver: boolean;
  /** What has come of the body since the last read, and if nothing, what comes next; undefined at its end. One at a time. */
  readonly read: () => Promise<string | undefined>;
  /** Ends the request; nothing where its answer is whole. */
  readonly discard: () => void;
}

export interface OpenLimits {
  /** Longest wait for the head, and between two reads of the body. */
  readonly silenceMsMax: number;
  readonly signal: AbortSignal;
}

interface Reader {
  readonly resolve: (text: string | undefined) => void;
  readonly reject: (error: UpstreamError) => void;
}

/** A request whose answer is read as it comes, and waits where it is not read. */
export class OpenExchange extends Exchange implements OpenAnswer {
  readonly answer: Promise<OpenAnswer>;
  readonly discard = (): void => this.giveUp();
  readonly #limits: OpenLimits;
  readonly #opened: PromiseWithResolvers<OpenAnswer>;
  readonly #text = new Utf8Text();
  #waiting = '';
  #waitingBytes = 0;
  #error: UpstreamError | undefined;
  #reader: Reader | undefined;

  constructor(request: RequestBytes, deadlines: Deadlines, limits: OpenLimits) {
    super(request, deadlines);
    this.#opened = Promise.withResolvers();
    this.answer = this.#opened.promise;
    this.#limits = limits;
    if (limits.signal.aborted) this.giveUp();
    else limits.signal.addEventListener('abort', this.discard);
  }

  override onSend(connection: Parameters<Exchange['onSend']>[0]): void {
    super.onSend(connection);
    this.within(this.#limits.silenceMsMax);
  }

  override onInterim(): void {
    this.within(this.#limits.silenceMsMax);
  }

  override onHead(status: number): void {
    super.onHead(status);
    this.within(this.#limits.silenceMsMax);
    this.#opened.resolve(this);
  }

  onData(bytes: Buffer): void {
    if (this.isOver) return;
    const text = this.#text.take(bytes);
    if (text === undefined) {
      this.end(garbled());
      return;
    }
    this.within(this.#limits.silenceMsMax);
    const reader = this.#reader;
    if (reader !== undefined && text !== '') {
      this.#reader = undefined;
      reader.resolve(text);
      return;
    }
    this.#waiting += text;
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes <= BUFFERED_BYTES_MAX) return;
    this.connection?.pause();
    this.ticksLeft = Number.POSITIVE_INFINITY; // The provider is not silent: it is not heard.
  }

  override onEnd(): void {
    super.onEnd();
    if (this.#text.isWhole) this.#finish()?.resolve(undefined);
    else this.fail(garbled());
  }

  protected override fail(error: UpstreamError): void {
    this.#error = error;
    this.#opened.reject(error);
    this.#finish()?.reject(error);
  }

  readonly read = (): Promise<string | undefined> => {
    if (this.#waiting !== '') return Promise.resolve(this.#take());
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.isOver) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
    });
  };

  #take(): string {
    const text = this.#waiting;
    this.#waiting = '';
    this.#waitingBytes = 0;
    if (!this.isOver) {
      this.within(this.#limits.silenceMsMax);
      this.connection?.resume();
    }
    return text;
  }

  /** Whoever waits for what does not come any more. */
  #finish(): Reader | undefined {
    this.#limits.signal.removeEventListener('abort', this.discard);
    const reader = this.#reader;
    this.#reader = undefined;
    return reader;
  }
}
