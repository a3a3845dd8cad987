import { Connection, type ConnectionKeeper, type Origin, outage, type Sending } from '#providers/http/connection.ts';
import { type Deadlines, ticksOf } from '#providers/http/deadlines.ts';
import type { UpstreamError } from '#providers/provider.ts';

/** How long an idle connection is kept where the provider does not say. */
const KEPT_MS = 4_000;
/** Where it does say, ours ends before, for word of its end could cross with a request. */
const KEPT_MARGIN_MS = 2_000;
const KEPT_MS_MAX = 600_000;

/** A request on its way to a connection. */
export interface Queued extends Sending {
  /** Nobody waits for its answer any more: it needs no connection. */
  readonly isOver: boolean;
  /** Before a byte of it is written. */
  readonly onSend: (connection: Connection) => void;
}

/** The connections to one origin: as many as there are requests under way, and of idle ones the last used is used next. */
export class Pool implements ConnectionKeeper {
  session: Buffer | undefined;
  readonly #origin: Origin;
  readonly #deadlines: Deadlines;
  #queue: Queued[] = [];
  #idle: Connection[] = [];
  /** Their answers have come in this turn. */
  #resting: Connection[] = [];
  /** Whom each connection that is being opened is for. */
  readonly #opening = new Map<Connection, Queued>();
  readonly #all = new Set<Connection>();
  #isTurnAwaited = false;

  constructor(origin: Origin, deadlines: Deadlines) {
    this.#origin = origin;
    this.#deadlines = deadlines;
  }

  /**
   * Sends a request in the next turn, when what has come on idle connections is heard: the end of one above all. For a
   * request is never sent twice, and so should not go into a connection that is known to be closed.
   */
  send(queued: Queued): void {
    this.#queue.push(queued);
    this.#awaitTurn();
  }

  /** Ends all connections, and with them what is under way. */
  close(error: UpstreamError): void {
    const queue = this.#queue;
    this.#queue = [];
    for (const queued of queue) queued.onError(error);
    for (const connection of this.#all) connection.destroy(error);
  }

  onConnect(connection: Connection): void {
    const queued = this.#opening.get(connection);
    this.#opening.delete(connection);
    if (queued === undefined || queued.isOver) this.#rest(connection, KEPT_MS);
    else start(connection, queued);
  }

  onFree(connection: Connection, keptMs: number | undefined): void {
    const ms = keptMs === undefined ? KEPT_MS : Math.min(keptMs - KEPT_MARGIN_MS, KEPT_MS_MAX);
    if (ms > 0) this.#rest(connection, ms);
    else connection.destroy();
  }

  onClose(connection: Connection, error: UpstreamError): void {
    this.#all.delete(connection);
    this.#deadlines.remove(connection);
    remove(this.#idle, connection);
    remove(this.#resting, connection);
    const queued = this.#opening.get(connection);
    this.#opening.delete(connection);
    queued?.onError(error);
  }

  #rest(connection: Connection, ms: number): void {
    connection.ticksLeft = ticksOf(ms);
    this.#resting.push(connection);
    this.#awaitTurn();
  }

  #awaitTurn(): void {
    if (this.#isTurnAwaited) return;
    this.#isTurnAwaited = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#isTurnAwaited = false;
    const queue = this.#queue;
    const resting = this.#resting;
    this.#queue = [];
    this.#resting = [];
    for (const queued of queue) {
      if (queued.isOver) continue;
      const connection = this.#idle.pop();
      if (connection !== undefined) start(connection, queued);
      else if (resting.length > this.#queue.length)
        this.send(queued); // One that rests is free in the next turn.
      else this.#open(queued);
    }
    this.#idle.push(...resting);
  }

  #open(queued: Queued): void {
    try {
      const connection = new Connection(this.#origin, this);
      this.#all.add(connection);
      this.#deadlines.add(connection);
      this.#opening.set(connection, queued);
    } catch (fault) {
      // In this turn nobody else would hear of it, and the process would end.
      queued.onError(outage('No connection to the provider could be opened.', fault));
    }
  }
}

function remove(connections: Connection[], connection: Connection): void {
  const place = connections.indexOf(connection);
  if (place !== -1) connections.splice(place, 1);
}

function start(connection: Connection, queued: Queued): void {
  connection.ticksLeft = Number.POSITIVE_INFINITY;
  queued.onSend(connection);
  connection.send(queued);
}
