import type { Deadlines } from '#providers/http/deadlines.ts';
import type { RequestBytes } from '#providers/http/connection.ts';
import { Exchange, garbled } from '#providers/http/exchange.ts';
import { Utf8Text } from '#providers/http/utf8-text.ts';
import type { UpstreamError } from '#providers/provider.ts';
import type { Signal } from '#kernel/signal.ts';

/** The provider's connection is paused when so much of an answer waits to be read. */
const BUFFERED_BYTES_MAX = 256 * 1024;

/** An answer of which the head is there. */
export interface OpenAnswer {
  readonly status: number;
  /**
   * Tells the listener what has come of the body, in this turn, and then what comes, each time in the turn in which it is
   * read. What comes while there is none waits, and holds its sender up.
   */
  readonly listen: (listener: AnswerListener | undefined) => void;
  /** Nothing more is wanted but the end, which is waited for so long: then another request can use the connection. */
  readonly finish: (msMax: number) => void;
  /** Ends the request; nothing where its answer is whole. */
  readonly discard: () => void;
}

/** `onEnd` or `onError` is the last that it is told. */
export interface AnswerListener {
  /** True where that was a sign of life. */
  readonly onText: (text: string) => boolean;
  readonly onEnd: () => void;
  readonly onError: (error: UpstreamError) => void;
}

export interface OpenLimits {
  /** Longest wait for the head, and between two signs of life in the body. */
  readonly silenceMsMax: number;
  readonly signal: Signal;
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
  #listener: AnswerListener | undefined;
  #isFinishing = false;

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
    if (text === undefined) this.end(garbled());
    else if (this.#isFinishing) this.giveUp();
    else if (this.#listener === undefined) this.#keep(text, bytes.length);
    else if (text !== '' && this.#listener.onText(text) && !this.#isFinishing) this.within(this.#limits.silenceMsMax);
  }

  override onEnd(): void {
    super.onEnd();
    this.#over(this.#text.isWhole ? undefined : garbled());
  }

  protected override fail(error: UpstreamError): void {
    this.#opened.reject(error);
    this.#over(error);
  }

  readonly listen = (listener: AnswerListener | undefined): void => {
    this.#listener = listener;
    if (listener === undefined) return;
    const text = this.#waiting;
    this.#waiting = '';
    this.#waitingBytes = 0;
    if (!this.isOver) {
      this.within(this.#limits.silenceMsMax);
      this.connection?.resume();
    }
    if (text !== '') listener.onText(text);
    this.#tellEnd();
  };

  readonly finish = (msMax: number): void => {
    this.#listener = undefined;
    this.#isFinishing = true;
    if (this.#waiting !== '') this.giveUp();
    else if (!this.isOver) this.within(msMax);
  };

  #keep(text: string, bytes: number): void {
    this.within(this.#limits.silenceMsMax);
    this.#waiting += text;
    this.#waitingBytes += bytes;
    if (this.#waitingBytes <= BUFFERED_BYTES_MAX) return;
    this.connection?.pause();
    this.ticksLeft = Number.POSITIVE_INFINITY; // The provider is not silent: it is not heard.
  }

  #over(error: UpstreamError | undefined): void {
    this.#limits.signal.removeEventListener('abort', this.discard);
    this.#error = error;
    this.#tellEnd();
  }

  /** Tells whoever has heard all the rest. */
  #tellEnd(): void {
    const listener = this.#listener;
    if (!this.isOver || this.#waiting !== '' || listener === undefined) return;
    this.#listener = undefined;
    if (this.#error === undefined) listener.onEnd();
    else listener.onError(this.#error);
  }
}
