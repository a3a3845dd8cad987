import type { AnswerListener, OpenAnswer } from '#providers/http/open-exchange.ts';
import { createChunkReader } from '#providers/openai-compatible/chunk-reader.ts';
import type { ChunkSource, StreamChunk, TakeChunks } from '#providers/provider.ts';

/** How long a body may go on after its stream is done before its connection is closed. */
const END_OF_BODY_MS_MAX = 1_000;

/**
 * The chunks of an answer, handed on in the turn in which they are read: with many streams open, a promise for each read
 * costs more than what is done with it.
 */
export class ChunkStream implements ChunkSource, AnswerListener {
  readonly #answer: OpenAnswer;
  readonly #chunks = createChunkReader();
  #hasEnded = false;
  #isLeft = false;
  #take: TakeChunks | undefined;
  #over: PromiseWithResolvers<void> | undefined;

  constructor(answer: OpenAnswer) {
    this.#answer = answer;
  }

  isWhole(): boolean {
    return this.#hasEnded || this.#chunks.isDone();
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
    this.#answer.listen(this);
    return promise;
  }

  /** True where it was a sign of life: bytes alone are none, a provider could send comments for ever. */
  onText(text: string): boolean {
    try {
      this.#chunks.feed(text);
      return this.#pass();
    } catch (fault) {
      this.#fail(fault);
      return false;
    }
  }

  onEnd(): void {
    this.#hasEnded = true;
    try {
      this.#chunks.end();
      this.#pass();
    } catch (fault) {
      this.#fail(fault);
    }
  }

  onError(fault: unknown): void {
    this.#fail(fault);
  }

  #pass(): boolean {
    const chunks = this.#chunks.take();
    const wanted = chunks.length === 0 ? true : (this.#take?.(chunks) ?? false);
    if (wanted === true) this.#goOn();
    else if (wanted === false) this.#rest();
    else {
      this.#answer.listen(undefined);
      wanted.then(
        (isWanted) => {
          if (!isWanted) this.#rest();
          else if (!this.#goOn()) this.#answer.listen(this);
        },
        (fault: unknown) => this.#fail(fault),
      );
    }
    return chunks.length > 0;
  }

  /** True where there is nothing to go on to. */
  #goOn(): boolean {
    if (!this.isWhole()) return false;
    this.#leave();
    this.#over?.resolve();
    return true;
  }

  /** No more is wanted, for now. */
  #rest(): void {
    this.#answer.listen(undefined);
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
    this.#answer.listen(undefined);
    if (this.#chunks.isDone()) this.#answer.finish(END_OF_BODY_MS_MAX);
    else this.#answer.discard();
  }
}
