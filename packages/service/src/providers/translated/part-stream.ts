import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { Chunk } from '#providers/port/completion.ts';
import { type ChunkSource, type StreamChunk, type TakeChunks, UpstreamError } from '#providers/port/provider.ts';
import type { ChunkMaker } from '#providers/translated/chunk-maker.ts';

type Part = LanguageModelV4StreamPart;
type Read = Awaited<ReturnType<ReadableStreamDefaultReader<Part>['read']>>;

/** Chunks that are handed on together. A library may have more of them than a reader can take at once. */
const BATCH_MAX = 256;
/** How long the body may take to end after its last part. Then the connection is closed instead of kept. */
const END_OF_BODY_MS_MAX = 1_000;

interface PartStreamOptions {
  readonly maker: ChunkMaker;
  readonly silenceMsMax: number;
  /** Ends the request. */
  readonly abort: () => void;
  /** Nothing of this stream runs any more. */
  readonly onLeft: () => void;
  /** Turns what the library throws into the provider's failure. */
  readonly failureOf: (fault: unknown) => unknown;
}

/**
 * The chunks of a V4 stream. It reads no further while its taker is busy (back-pressure), and hands on together what has arrived
 * together, because each hand-over costs a write.
 */
export class PartStream implements ChunkSource {
  readonly #reader: ReadableStreamDefaultReader<Part>;
  readonly #options: PartStreamOptions;
  /** A read that was begun and not yet waited for. */
  #pending: Promise<Read> | undefined;
  #hasEnded = false;

  constructor(stream: ReadableStream<Part>, options: PartStreamOptions) {
    this.#reader = stream.getReader();
    this.#options = options;
  }

  isWhole(): boolean {
    return this.#hasEnded;
  }

  async first(): Promise<readonly StreamChunk[] | undefined> {
    let first: readonly StreamChunk[] | undefined;
    await this.rest((chunks) => {
      first = chunks;
      return false;
    });
    return first;
  }

  async rest(take: TakeChunks): Promise<void> {
    try {
      while (!this.#hasEnded) {
        const chunks = await this.#batch();
        if (chunks.length > 0 && !(await take(chunks))) return;
      }
    } catch (fault) {
      this.#hasEnded = true;
      this.#options.abort();
      this.#options.onLeft();
      throw this.#options.failureOf(fault);
    }
  }

  /** The chunks of the next part, and of those that have arrived with it. */
  async #batch(): Promise<readonly Chunk[]> {
    const chunks: Chunk[] = [];
    let read = await this.#nextWithin();
    for (;;) {
      if (read.done) throw new UpstreamError('cut', 'The provider ended a stream without a reason to finish.');
      const chunk = this.#options.maker.take(read.value);
      if (chunk !== undefined) chunks.push(chunk);
      if (this.#options.maker.isFinished()) {
        this.#finish();
        return chunks;
      }
      if (chunks.length >= BATCH_MAX) return chunks;
      const next = this.#next();
      const here = await Promise.race([next, nextTurn()]);
      if (here === undefined) return chunks;
      this.#pending = undefined;
      read = here;
    }
  }

  #next(): Promise<Read> {
    this.#pending ??= this.#reader.read();
    // Waited for later, or never when the taker wants no more. A rejection in between is not unhandled.
    this.#pending.catch(() => {});
    return this.#pending;
  }

  /** The next part, if it comes in time. Time that the taker needs does not count. */
  async #nextWithin(): Promise<Read> {
    const silence = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      silence.reject(new UpstreamError('timeout', 'The provider was silent for too long.'));
    }, this.#options.silenceMsMax);
    try {
      const read = await Promise.race([this.#next(), silence.promise]);
      this.#pending = undefined;
      return read;
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Waits for the end of the body, which alone is missing after the last part. The wait lets the connection serve
   * another request.
   */
  #finish(): void {
    this.#hasEnded = true;
    const { abort, onLeft } = this.#options;
    const timer = setTimeout(abort, END_OF_BODY_MS_MAX);
    timer.unref();
    this.#next()
      .catch(() => {})
      .finally(() => {
        clearTimeout(timer);
        onLeft();
      });
  }
}
