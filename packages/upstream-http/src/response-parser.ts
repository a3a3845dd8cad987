import { CHUNK_LINE_BYTES_MAX, chunkSizeIn, NOTHING_YET } from '#providers/http/chunk-size.ts';
import { AnswerFault, type Framing, framingOf, HEAD_BYTES_MAX, readHead, readTrailers } from '#providers/http/head.ts';

export interface AnswerSink {
  /** The final status, once. */
  readonly onHead: (status: number) => void;
  /** Bytes of the body, in the memory that was fed: they must be copied to be kept. */
  readonly onData: (bytes: Buffer) => void;
  /** Something came that is a sign of life and no part of the answer. */
  readonly onInterim: () => void;
}

type State = 'head' | 'sized' | 'until-close' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailers' | 'done';

const NO_BYTES = Buffer.alloc(0);
const CR = 13;
const LF = 10;

/**
 * Reads one answer of HTTP/1.1, however its bytes are cut, and is strict: what two readers could read in two ways is no
 * answer. It says when the answer is whole, and whether the connection may serve another request.
 */
export class AnswerParser {
  /** True once the answer is whole and its sender keeps the connection. */
  isKept = false;
  /** How long the sender says that it keeps an idle connection; undefined where it does not say. */
  keptMs: number | undefined;
  readonly #sink: AnswerSink;
  #state: State = 'head';
  /** Of the head, of a line of a chunk's size, or of trailers: what has come of it so far. */
  #rest = NO_BYTES;
  /** Bytes of the body, or of a chunk, that are still to come. */
  #awaited = 0;
  /** Of all heads, those that were passed over too. */
  #headBytes = 0;
  /** The bytes of chunks that were read at once, moved together: from here to there. */
  #from = 0;
  #to = 0;

  constructor(sink: AnswerSink) {
    this.#sink = sink;
  }

  /**
   * Takes what was read: writes in it, and keeps nothing of it. True when the answer is whole; nothing may be fed after
   * that. Throws `AnswerFault` at what is no answer.
   */
  feed(read: Buffer): boolean {
    const bytes = this.#rest.length === 0 ? read : Buffer.concat([this.#rest, read]);
    this.#rest = NO_BYTES;
    this.#from = 0;
    this.#to = 0;
    let at = 0;
    while (at < bytes.length && this.#state !== 'done') {
      const next = this.#step(bytes, at);
      if (next === NOTHING_YET) {
        this.#rest = Buffer.from(bytes.subarray(at));
        break;
      }
      at = next;
    }
    if (this.#to > this.#from) this.#sink.onData(bytes.subarray(this.#from, this.#to));
    if (this.#state !== 'done') return false;
    // More than was asked for: whose answer that would be nobody knows.
    if (at < bytes.length) this.isKept = false;
    return true;
  }

  /** The other side has closed the connection. True when the answer is whole by that. */
  end(): boolean {
    return this.#state === 'until-close';
  }

  #step(bytes: Buffer, at: number): number {
    switch (this.#state) {
      case 'head':
        return this.#head(bytes, at);
      case 'sized':
        return this.#data(bytes, at, 'done');
      case 'chunk':
        return this.#data(bytes, at, 'chunk-end');
      case 'until-close':
        this.#take(bytes, at, bytes.length);
        return bytes.length;
      case 'chunk-size':
        return this.#chunkSize(bytes, at);
      case 'chunk-end':
        return this.#chunkEnd(bytes, at);
      case 'trailers':
        return this.#trailers(bytes, at);
      case 'done':
        return at;
    }
  }

  #head(bytes: Buffer, at: number): number {
    const head = readHead(bytes, at, HEAD_BYTES_MAX - this.#headBytes);
    if (head === undefined) return NOTHING_YET;
    this.#headBytes += head.end - at;
    if (head.status === 101) throw new AnswerFault('switches to another protocol');
    if (head.status < 200) {
      this.#sink.onInterim();
      return head.end;
    }
    const framing = framingOf(head);
    this.isKept = framing.isKept;
    this.keptMs = framing.keptMs;
    this.#frame(framing);
    this.#sink.onHead(head.status);
    return head.end;
  }

  #frame({ body, bytes }: Framing): void {
    this.#awaited = bytes;
    if (body === 'chunked') this.#state = 'chunk-size';
    else if (body === 'until-close') this.#state = 'until-close';
    else this.#state = bytes === 0 ? 'done' : 'sized';
  }

  #data(bytes: Buffer, at: number, next: State): number {
    const end = Math.min(bytes.length, at + this.#awaited);
    this.#take(bytes, at, end);
    this.#awaited -= end - at;
    if (this.#awaited === 0) this.#state = next;
    return end;
  }

  /** Moves what a read holds of the body together, so that it is passed on at once. */
  #take(bytes: Buffer, at: number, end: number): void {
    if (this.#from === this.#to) {
      this.#from = at;
      this.#to = end;
    } else {
      bytes.copyWithin(this.#to, at, end);
      this.#to += end - at;
    }
  }

  #chunkSize(bytes: Buffer, at: number): number {
    const line = chunkSizeIn(bytes, at);
    if (line === undefined) {
      if (bytes.length - at > CHUNK_LINE_BYTES_MAX) throw new AnswerFault('has a chunk whose size does not end');
      return NOTHING_YET;
    }
    this.#awaited = line.size;
    this.#state = line.size === 0 ? 'trailers' : 'chunk';
    // Trailers are lines with their CRLF before them, like headers: the last chunk's is the first of theirs.
    return line.size === 0 ? line.end - 2 : line.end;
  }

  #chunkEnd(bytes: Buffer, at: number): number {
    if (bytes[at] !== CR) throw new AnswerFault('has a chunk of another size than it says');
    if (at + 1 === bytes.length) return NOTHING_YET;
    if (bytes[at + 1] !== LF) throw new AnswerFault('has a chunk of another size than it says');
    this.#state = 'chunk-size';
    return at + 2;
  }

  #trailers(bytes: Buffer, at: number): number {
    const end = readTrailers(bytes, at);
    if (end === undefined) return NOTHING_YET;
    this.#state = 'done';
    return end;
  }
}
