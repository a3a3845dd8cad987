import type {
  RequestError,
  RequestErrorKind,
  ResponseListener,
  StreamedResponse,
} from '@purser/upstream-http/client.ts';
import type { ChunkReader } from '#providers/openai-compatible/chunk-reader.ts';
import type { ChunkSource, StreamChunk, TakeChunks } from '#providers/port/provider.ts';
import { upstreamFailureOf } from '#providers/errors/request-failure.ts';

/** How long the body may take to end after `[DONE]`. Then the connection is closed instead of kept. */
const END_OF_BODY_MS_MAX = 1_000;
/** Errors by which a connection ends. The others say something of the response, or that nobody wants it. */
const LOST: ReadonlySet<RequestErrorKind> = new Set(['connection', 'protocol', 'timeout', 'closed']);

/**
 * The chunks of a streamed response, handed on in the turn in which they are read. With many streams open, a promise for
 * each read would cost more than handling the chunks.
 */
export class ChunkStream implements ChunkSource, ResponseListener {
  readonly #response: StreamedResponse;
  /**
   * The reader is let go at the end, with the text that it has read, because a settlement may take longer than the
   * stream.
   */
  #chunks: ChunkReader | undefined;
  /** The body has ended, or nothing more is wanted of it. */
  #hasEnded = false;
  #isLeft = false;
  /** The taker of the running `rest`, and the promise that it returned. */
  #take: TakeChunks | undefined;
  #over: PromiseWithResolvers<void> | undefined;

  constructor(response: StreamedResponse, chunks: ChunkReader) {
    this.#response = response;
    this.#chunks = chunks;
  }

  isWhole(): boolean {
    return this.#hasEnded || this.#isDone();
  }

  async first(): Promise<readonly StreamChunk[] | undefined> {
    let first: readonly StreamChunk[] | undefined;
    await this.rest((chunks) => {
      first = chunks;
      return false;
    });
    return first;
  }

  rest(take: TakeChunks): Promise<void> {
    if (this.isWhole()) {
      this.#leave();
      return Promise.resolve();
    }
    this.#take = take;
    this.#over = Promise.withResolvers();
    const { promise } = this.#over;
    this.#response.listen(this);
    return promise;
  }

  /** Returns true if at least one chunk came. Other text is no progress: a provider could send comments for ever. */
  onText(text: string): boolean {
    try {
      this.#chunks?.feed(text);
      return this.#pass();
    } catch (fault) {
      this.#fail(fault);
      return false;
    }
  }

  onEnd(): void {
    this.#hasEnded = true;
    try {
      this.#chunks?.end();
      this.#pass();
    } catch (fault) {
      this.#fail(fault);
    }
  }

  onError(error: RequestError): void {
    // The caller has the whole answer and the provider bills it: only the end of the body is missing (CC-11).
    if (LOST.has(error.kind) && this.#chunks?.isComplete() === true) this.onEnd();
    else this.#fail(upstreamFailureOf(error));
  }

  #pass(): boolean {
    const chunks = this.#chunks?.take() ?? [];
    // The taker returns a promise only if the caller is slow. In the usual case everything happens in this turn.
    const wanted = chunks.length === 0 ? true : (this.#take?.(chunks) ?? false);
    if (wanted === true) this.#goOn();
    else if (wanted === false) this.#rest();
    else {
      // Without a listener the response holds up the provider once 256 KiB wait.
      this.#response.listen(undefined);
      wanted.then(
        (isWanted) => {
          if (!isWanted) this.#rest();
          else if (!this.#goOn()) this.#response.listen(this);
        },
        (fault: unknown) => this.#fail(fault),
      );
    }
    return chunks.length > 0;
  }

  /** Returns true if the stream is complete, and ends it then. */
  #goOn(): boolean {
    if (!this.isWhole()) return false;
    this.#leave();
    this.#over?.resolve();
    return true;
  }

  /** The taker wants no more for now. The rest waits in the response until `rest` is called again. */
  #rest(): void {
    this.#response.listen(undefined);
    this.#over?.resolve();
  }

  #fail(fault: unknown): void {
    this.#over?.reject(fault);
    this.#leave();
  }

  #leave(): void {
    if (this.#isLeft) return;
    this.#isLeft = true;
    this.#take = undefined;
    this.#hasEnded = true;
    this.#response.listen(undefined);
    const isDone = this.#isDone();
    this.#chunks = undefined;
    // After [DONE] only the end of the body is missing. Waiting for it lets the connection serve another request.
    if (isDone) this.#response.finish(END_OF_BODY_MS_MAX);
    else this.#response.discard();
  }

  #isDone(): boolean {
    return this.#chunks?.isDone() === true;
  }
}
