import { CHUNK_LINE_BYTES_MAX, chunkSizeIn, INCOMPLETE } from './chunk-size.ts';
import { type Framing, framingOf, HEAD_BYTES_MAX, ProtocolError, readHead, readTrailers } from './response-head.ts';

export interface ResponseSink {
  /** This is called once, with the final status and the header lines, each with its CRLF before it. */
  readonly onHead: (status: number, lines: string) => void;
  /** This is called with bytes of the body. They lie in the memory that was fed: copy them to keep them. */
  readonly onData: (bytes: Buffer) => void;
  /** This is called for an interim response (1xx): the upstream is alive, and the response is still to come. */
  readonly onInterim: () => void;
}

type State = 'head' | 'sized' | 'until-close' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailers' | 'done';

const NO_BYTES = Buffer.alloc(0);
const CR = 13;
const LF = 10;

/**
 * Reads one HTTP/1.1 response, however its bytes are cut. It is strict: bytes that two readers could read in two ways are
 * an error. It tells when the response is complete and whether the connection can be used again.
 */
export class ResponseParser {
  /**
   * True if the response is complete and the upstream keeps the connection. Otherwise the connection serves no other
   * request.
   */
  isReusable = false;
  /** How long the upstream says it keeps an idle connection; undefined if it does not say. */
  keepAliveMs: number | undefined;
  readonly #sink: ResponseSink;
  #state: State = 'head';
  /** The bytes of an incomplete head, chunk-size line, chunk end or trailers. */
  #rest = NO_BYTES;
  /** Bytes of the body, or of the chunk, that are still to come. */
  #awaited = 0;
  /** Bytes of all heads so far, interim ones included. */
  #headBytes = 0;
  /** Where the body bytes of this read lie. Chunks of one read are moved together into one slice. */
  #dataStart = 0;
  #dataEnd = 0;

  constructor(sink: ResponseSink) {
    this.#sink = sink;
  }

  /**
   * Takes the bytes of one read; may overwrite them, and keeps none of that memory. Returns true when the response is
   * complete, after which nothing may be fed. Throws `ProtocolError` if the bytes are not a response.
   */
  feed(read: Buffer): boolean {
    const bytes = this.#rest.length === 0 ? read : Buffer.concat([this.#rest, read]);
    this.#rest = NO_BYTES;
    this.#dataStart = 0;
    this.#dataEnd = 0;
    let at = 0;
    while (at < bytes.length && this.#state !== 'done') {
      const next = this.#step(bytes, at);
      if (next === INCOMPLETE) {
        this.#rest = Buffer.from(bytes.subarray(at));
        break;
      }
      at = next;
    }
    // One call for each read, not for each chunk: a read may hold dozens of chunks, and they are decoded together.
    if (this.#dataEnd > this.#dataStart) this.#sink.onData(bytes.subarray(this.#dataStart, this.#dataEnd));
    if (this.#state !== 'done') return false;
    // Bytes behind the response belong to no request. The next request would take them for its own response.
    if (at < bytes.length) this.isReusable = false;
    return true;
  }

  /** The upstream has closed the connection. Returns true if that completes the response. */
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
    // What the interim heads used is taken off the limit: an upstream could send them for ever.
    const head = readHead(bytes, at, HEAD_BYTES_MAX - this.#headBytes);
    if (head === undefined) return INCOMPLETE;
    this.#headBytes += head.end - at;
    if (head.status === 101) throw new ProtocolError('switches to another protocol');
    if (head.status < 200) {
      this.#sink.onInterim();
      return head.end;
    }
    const framing = framingOf(head);
    this.isReusable = framing.isReusable;
    this.keepAliveMs = framing.keepAliveMs;
    this.#frame(framing);
    this.#sink.onHead(head.status, head.lines);
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

  /** Adds body bytes to the slice of this read. Later chunks are moved forward, over the size lines between them. */
  #take(bytes: Buffer, at: number, end: number): void {
    if (this.#dataStart === this.#dataEnd) {
      this.#dataStart = at;
      this.#dataEnd = end;
    } else {
      bytes.copyWithin(this.#dataEnd, at, end);
      this.#dataEnd += end - at;
    }
  }

  #chunkSize(bytes: Buffer, at: number): number {
    const line = chunkSizeIn(bytes, at);
    if (line === undefined) {
      if (bytes.length - at > CHUNK_LINE_BYTES_MAX) throw new ProtocolError('has too long a chunk-size line');
      return INCOMPLETE;
    }
    this.#awaited = line.size;
    this.#state = line.size === 0 ? 'trailers' : 'chunk';
    // `readTrailers` expects a CRLF before each line, as in a head. The CRLF of the last size line is the first of them.
    return line.size === 0 ? line.end - 2 : line.end;
  }

  #chunkEnd(bytes: Buffer, at: number): number {
    if (bytes[at] !== CR) throw new ProtocolError('has a chunk that is longer than its size');
    if (at + 1 === bytes.length) return INCOMPLETE;
    if (bytes[at + 1] !== LF) throw new ProtocolError('has a chunk that is longer than its size');
    this.#state = 'chunk-size';
    return at + 2;
  }

  #trailers(bytes: Buffer, at: number): number {
    const end = readTrailers(bytes, at);
    if (end === undefined) return INCOMPLETE;
    this.#state = 'done';
    return end;
  }
}
