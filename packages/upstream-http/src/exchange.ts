import type { Connection, RequestBytes } from './connection.ts';
import { type Deadlines, ticksOf, type Timed } from './deadlines.ts';
import type { PooledRequest } from './pool.ts';
import { RequestError } from './request-error.ts';
import { retryAfterMsOf } from './retry-after.ts';

/** How long an aborted request without a response waits for news of its connection: a round trip to most upstreams. */
const NEWS_WAIT_MS = 50;

export const OK = 200;
/** How much of an error is read. The errors that say why they came are shorter. */
export const ERROR_BYTES_MAX = 8 * 1024;
/** How long an error may take to arrive after its head. Its status is known already. */
const ERROR_MS_MAX = 500;

/** What an upstream says in an answer whose status is not 200. Use it to find out why, and never show it. */
export interface ErrorResponse {
  /** The beginning of the body, as far as it came in time. */
  readonly text: string;
  /** How long the upstream asks its clients to wait. Unbounded. */
  readonly retryAfterMs: number | undefined;
  /** The lines of its head, each behind a line break. Some vendors say there what went wrong. */
  readonly head: string;
}

/** One request and its response, from the queue to the end: what buffered and streamed responses have in common. */
export abstract class Exchange implements PooledRequest, Timed {
  ticksLeft = Number.POSITIVE_INFINITY;
  place = -1;
  isOver = false;
  status = 0;
  protected retryAfterMs: number | undefined;
  /** It is kept for an error alone. */
  protected head = '';
  protected connection: Connection | undefined;
  readonly #deadlines: Deadlines;
  #request: RequestBytes | undefined;

  constructor(request: RequestBytes, deadlines: Deadlines) {
    this.#request = request;
    this.#deadlines = deadlines;
    deadlines.add(this);
  }

  takeRequest(): RequestBytes {
    const request = this.#request;
    if (request === undefined) throw new Error('Assertion failed: a request is sent at most once.');
    this.#request = undefined;
    return request;
  }

  onSend(connection: Connection): void {
    this.connection = connection;
  }

  /** An interim response changes nothing by itself: a buffered response times out by the clock. */
  onInterim(): void {}

  onHead(status: number, lines: string): void {
    this.status = status;
    if (status === OK) return;
    this.retryAfterMs = retryAfterMsOf(lines);
    this.head = lines;
  }

  /** An answer that is an error is not awaited for longer than `ERROR_MS_MAX`. */
  protected expireError(): void {
    this.ticksLeft = Math.min(this.ticksLeft, ticksOf(ERROR_MS_MAX));
  }

  abstract onData(bytes: Buffer): void;

  onEnd(): void {
    this.#finish();
  }

  onError(error: RequestError): void {
    if (this.isOver) return;
    this.#finish();
    this.fail(error);
  }

  onOverdue(): void {
    this.end(new RequestError('timeout', 'The upstream did not respond in time.'));
  }

  /** Aborts the request. Does nothing if it is over. */
  abort(): void {
    if (this.connection === undefined) {
      // It was never sent. The pool drops it, and keeps the connection it may have opened for the next request.
      this.end(new RequestError('unsent', 'The request was aborted before it was sent.'));
    } else if (this.status > 0) {
      this.end(aborted());
    } else {
      // The request may have been written to a kept connection that the upstream had already closed. If the socket
      // reports that in time, the request fails as `connection`: it never arrived, so nobody may be charged for it.
      // After a stall, timers are due before the sockets have been looked at. Immediates come after both.
      setTimeout(() => setImmediate(() => this.end(aborted())), NEWS_WAIT_MS);
    }
  }

  /** Fails the request with `error` and destroys its connection. */
  protected end(error: RequestError): void {
    if (this.isOver) return;
    if (this.connection === undefined) this.onError(error);
    else this.connection.destroy(error);
  }

  /** This is called once, if the whole response will never arrive. */
  protected abstract fail(error: RequestError): void;

  /** Restarts the deadline: the request times out after `ms`, up to 0.2 s late. */
  protected expireIn(ms: number): void {
    this.ticksLeft = ticksOf(ms);
  }

  #finish(): void {
    this.isOver = true;
    this.#deadlines.remove(this);
  }
}

function aborted(): RequestError {
  return new RequestError('aborted', 'The request was aborted.');
}

/** Invalid bytes are refused, not replaced: a caller would pay for garbled text. */
export function notUtf8(): RequestError {
  return new RequestError('body', 'The upstream sent bytes that are not UTF-8.');
}
