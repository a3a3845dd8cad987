import { Connection, type ConnectionOwner, connectionFailed, type Origin, type PendingRequest } from './connection.ts';
import { type Deadlines, ticksOf } from './deadlines.ts';
import type { RequestError } from './request-error.ts';

/** How long an idle connection is kept if the upstream does not say. A Node server closes its own after 5 s. */
const KEEP_ALIVE_MS = 4_000;
/** If the upstream does say, ours is closed this much earlier, so that its close cannot cross with a request. */
const KEEP_ALIVE_MARGIN_MS = 2_000;
const KEEP_ALIVE_MS_MAX = 600_000;
const IDLE_TICKS_MAX = ticksOf(KEEP_ALIVE_MS_MAX);
/** A shorter wait says nothing of an upstream's keep-alive: it has been stopped, or has too many connections. */
const LEARNED_TICKS_MIN = ticksOf(200);
/** How much longer a connection is kept after each one that the upstream would have kept longer. */
const RELAXED = 1.1;

/** A request that waits for a connection. */
export interface PooledRequest extends PendingRequest {
  /** It was aborted or timed out, and needs no connection any more. */
  readonly isOver: boolean;
  /** This is called before a byte of the request is written. */
  readonly onSend: (connection: Connection) => void;
}

/**
 * The connections to one origin: as many as there are requests under way. The idle connection that was used last is used
 * next, so that a burst's spare connections grow old and close.
 */
export class Pool implements ConnectionOwner {
  tlsSession: Buffer | undefined;
  readonly #origin: Origin;
  readonly #deadlines: Deadlines;
  #queue: PooledRequest[] = [];
  #idle: Connection[] = [];
  /** Connections whose response ended in this turn. They are idle from the next turn on. */
  #resting: Connection[] = [];
  /** The request for which each connecting connection was opened. */
  readonly #connecting = new Map<Connection, PooledRequest>();
  readonly #all = new Set<Connection>();
  #isTurnScheduled = false;
  /** Half of the time that the upstream kept an idle connection, if it has closed one. */
  #idleTicksMax = IDLE_TICKS_MAX;

  constructor(origin: Origin, deadlines: Deadlines) {
    this.#origin = origin;
    this.#deadlines = deadlines;
  }

  /**
   * Sends a request in the next turn of the event loop, after the sockets have reported what came on idle connections,
   * above all their end. A request is never sent twice, so it must not go to a connection that is known to be closed.
   */
  send(request: PooledRequest): void {
    this.#queue.push(request);
    this.#scheduleTurn();
  }

  /** Ends all connections and fails every request with `error`. */
  close(error: RequestError): void {
    const queue = this.#queue;
    this.#queue = [];
    for (const request of queue) request.onError(error);
    for (const connection of this.#all) connection.destroy(error);
  }

  onConnect(connection: Connection): void {
    const request = this.#connecting.get(connection);
    this.#connecting.delete(connection);
    if (request === undefined || request.isOver) this.#rest(connection, KEEP_ALIVE_MS);
    else start(connection, request);
  }

  onFree(connection: Connection, keepAliveMs: number | undefined): void {
    const ms =
      keepAliveMs === undefined ? KEEP_ALIVE_MS : Math.min(keepAliveMs - KEEP_ALIVE_MARGIN_MS, KEEP_ALIVE_MS_MAX);
    if (ms > 0) this.#rest(connection, ms);
    else connection.destroy();
  }

  onClose(connection: Connection, error: RequestError): void {
    this.#all.delete(connection);
    this.#deadlines.remove(connection);
    const isOverdue = remove(this.#idle, connection) && connection.ticksLeft <= 0;
    if (isOverdue) this.#idleTicksMax = Math.min(this.#idleTicksMax * RELAXED, IDLE_TICKS_MAX);
    remove(this.#resting, connection);
    const request = this.#connecting.get(connection);
    this.#connecting.delete(connection);
    request?.onError(error);
  }

  /**
   * Learns how long the upstream keeps idle connections if it does not say. A request that is written at the moment of such a
   * close is lost, and nobody can tell whether the upstream has read it.
   */
  onClosedIdle({ idleTicks, ticksLeft }: Connection): void {
    const ticks = idleTicks - ticksLeft;
    if (ticks >= LEARNED_TICKS_MIN) this.#idleTicksMax = Math.min(this.#idleTicksMax, Math.floor(ticks / 2));
  }

  #rest(connection: Connection, ms: number): void {
    connection.idleTicks = Math.min(ticksOf(ms), Math.floor(this.#idleTicksMax));
    connection.ticksLeft = connection.idleTicks;
    this.#resting.push(connection);
    this.#scheduleTurn();
  }

  #scheduleTurn(): void {
    if (this.#isTurnScheduled) return;
    this.#isTurnScheduled = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#isTurnScheduled = false;
    const queue = this.#queue;
    const resting = this.#resting;
    this.#queue = [];
    this.#resting = [];
    for (const request of queue) {
      if (request.isOver) continue;
      const connection = this.#idle.pop();
      if (connection !== undefined) start(connection, request);
      // A resting connection is idle in the next turn, once its socket has had the chance to report an unasked response.
      // Waiting one turn is cheaper than opening a connection. `this.#queue` holds the requests that already wait for one.
      else if (resting.length > this.#queue.length) this.send(request);
      else this.#open(request);
    }
    this.#idle.push(...resting);
  }

  #open(request: PooledRequest): void {
    try {
      const connection = new Connection(this.#origin, this);
      this.#all.add(connection);
      this.#deadlines.add(connection);
      this.#connecting.set(connection, request);
    } catch (fault) {
      // `connect` may throw, and an exception in this callback would end the process.
      request.onError(connectionFailed('The connection to the upstream could not be opened.', fault));
    }
  }
}

/** Returns true if the connection was there. */
function remove(connections: Connection[], connection: Connection): boolean {
  const place = connections.indexOf(connection);
  if (place !== -1) connections.splice(place, 1);
  return place !== -1;
}

function start(connection: Connection, request: PooledRequest): void {
  connection.ticksLeft = Number.POSITIVE_INFINITY;
  request.onSend(connection);
  connection.send(request);
}
