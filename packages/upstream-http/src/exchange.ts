import { assert } from '#kernel/assert.ts';
import type { Connection, RequestBytes } from '#providers/http/connection.ts';
import { ticksOf, type Timed, type Deadlines } from '#providers/http/deadlines.ts';
import type { Queued } from '#providers/http/pool.ts';
import { UpstreamError } from '#providers/provider.ts';

/** How long a call without an answer waits to be given up: a round trip to most providers. */
const DOUBT_MS = 50;

/** One request and its answer, from the queue to its end: what the two ways of reading an answer have in common. */
export abstract class Exchange implements Queued, Timed {
  ticksLeft = Number.POSITIVE_INFINITY;
  isOver = false;
  status = 0;
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
    assert(request !== undefined, 'a request is sent once');
    this.#request = undefined;
    return request;
  }

  onSend(connection: Connection): void {
    this.connection = connection;
  }

  onInterim(): void {}

  onHead(status: number): void {
    this.status = status;
  }

  abstract onData(bytes: Buffer): void;

  onEnd(): void {
    this.#over();
  }

  onError(error: UpstreamError): void {
    if (this.isOver) return;
    this.#over();
    this.fail(error);
  }

  onOverdue(): void {
    this.end(new UpstreamError('timeout', 'The provider was silent for too long.'));
  }

  /** Gives the call up; nothing where it is over. */
  giveUp(): void {
    if (this.connection === undefined) {
      // It was not sent, and will not be: a connection that is opened for it is for another.
      this.end(new UpstreamError('unsent', 'The call was given up.'));
    } else if (this.status > 0) {
      this.end(new UpstreamError('given-up', 'The call was given up.'));
    } else {
      // The request may have gone into a kept connection that the provider had closed. Where word of that comes in
      // time, the call was not given up: it never arrived.
      setTimeout(() => this.end(new UpstreamError('given-up', 'The call was given up.')), DOUBT_MS);
    }
  }

  /** Ends it by this error, and its connection with it. */
  protected end(error: UpstreamError): void {
    if (this.isOver) return;
    if (this.connection === undefined) this.onError(error);
    else this.connection.destroy(error);
  }

  /** The answer is not, or not wholly, there, and will not be. */
  protected abstract fail(error: UpstreamError): void;

  /** From now on, so long. */
  protected within(ms: number): void {
    this.ticksLeft = ticksOf(ms);
  }

  #over(): void {
    this.isOver = true;
    this.#deadlines.remove(this);
  }
}

/** If its bytes were replaced, a garbled answer would be charged. */
export function garbled(): UpstreamError {
  return new UpstreamError('malformed', 'The provider sent bytes that are not UTF-8.');
}
