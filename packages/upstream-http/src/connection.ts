import type { Socket } from 'node:net';
import { ticksOf, type Timed } from './deadlines.ts';
import type { Proxy } from './proxies.ts';
import { RequestError } from './request-error.ts';
import { ResponseParser, type ResponseSink } from './response-parser.ts';
import { openSocket, secureSocket } from './socket.ts';
import { TunnelAnswer, tunnelRequest } from './tunnel.ts';

const CONNECT_MS_MAX = 10_000;
/** How long a connection may be silent before TCP probes whether the other side is still there. */
const TCP_KEEP_ALIVE_MS = 60_000;

/** The address that connections lead to. */
export interface Origin {
  readonly isTls: boolean;
  readonly host: string;
  readonly port: number;
  /** The proxy that opens a tunnel to the address; undefined if connections are direct. */
  readonly proxy: Proxy | undefined;
}

/** A request as it is written to the socket. */
export interface RequestBytes {
  readonly bytes: string;
  readonly encoding: 'latin1' | 'utf8';
}

/** A request to send, and the callbacks for its response. `onEnd` or `onError` is the last call. */
export interface PendingRequest extends ResponseSink {
  /** Gives the bytes away, once: a response may take minutes, and the request is never sent again. */
  readonly takeRequest: () => RequestBytes;
  readonly onEnd: () => void;
  readonly onError: (error: RequestError) => void;
}

/** Keeps connections between requests. */
export interface ConnectionOwner {
  readonly onConnect: (connection: Connection) => void;
  /** The connection can take another request. `keepAliveMs` is what the upstream says it waits for one. */
  readonly onFree: (connection: Connection, keepAliveMs: number | undefined) => void;
  /** The connection has ended, or could not be opened. */
  readonly onClose: (connection: Connection, error: RequestError) => void;
  /** The upstream has closed the connection while it was idle. */
  readonly onClosedIdle: (connection: Connection) => void;
  /** The newest TLS session, which makes the next handshake cheaper for both sides. */
  tlsSession: Buffer | undefined;
}

/** A connection to an upstream. It carries one request at a time, and is destroyed at the first byte it cannot explain. */
export class Connection implements Timed {
  ticksLeft = ticksOf(CONNECT_MS_MAX);
  place = -1;
  /** For this many ticks it is kept idle, of which `ticksLeft` are left. */
  idleTicks = 0;
  readonly #owner: ConnectionOwner;
  readonly #origin: Origin;
  #socket: Socket;
  /** What the proxy answers, until the tunnel is open. */
  #tunnel: TunnelAnswer | undefined;
  readonly #onRead = (bytes: Buffer): void => this.#read(bytes);
  #isClosed = false;
  #isPaused = false;
  /** The kernel has taken all of the last request. */
  #isWritten = true;
  /** The response was complete before the request was written. The connection is free once it is. */
  #isFreeOnceWritten = false;
  #keepAliveMs: number | undefined;
  readonly #onWritten = (): void => {
    this.#isWritten = true;
    if (!this.#isFreeOnceWritten || this.#isClosed) return;
    this.#isFreeOnceWritten = false;
    this.#owner.onFree(this, this.#keepAliveMs);
  };
  #request: PendingRequest | undefined;
  #parser: ResponseParser | undefined;

  constructor(origin: Origin, owner: ConnectionOwner) {
    this.#owner = owner;
    this.#origin = origin;
    const { proxy } = origin;
    if (proxy === undefined) {
      this.#socket = this.#adopt(openSocket(this.#target()), origin.isTls);
    } else {
      this.#tunnel = new TunnelAnswer();
      this.#socket = openSocket({ ...proxy, onRead: this.#onRead });
      this.#socket.once(proxy.isTls ? 'secureConnect' : 'connect', () => {
        this.#socket.write(tunnelRequest(proxy, origin), 'latin1');
      });
      this.#watch(this.#socket);
    }
  }

  /** Writes the request. The connection must be connected and free. */
  send(request: PendingRequest): void {
    this.#request = request;
    this.#parser = new ResponseParser(request);
    this.#isWritten = false;
    const { bytes, encoding } = request.takeRequest();
    this.#socket.write(bytes, encoding, this.#onWritten);
  }

  /** Stops reading until `resume`, so that TCP holds up the upstream. */
  pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  /** It was idle for its whole keep-alive time, or could not be opened in time. */
  onOverdue(): void {
    this.destroy(connectionFailed('The upstream could not be reached in time.'));
  }

  /** Closes the connection at once and fails its request, if it has one, with `error`. */
  destroy(error: RequestError = connectionFailed('The upstream closed the connection.')): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket.destroy();
    const request = this.#request;
    this.#request = undefined;
    this.#parser = undefined;
    this.#owner.onClose(this, error);
    request?.onError(error);
  }

  #target(): Parameters<typeof openSocket>[0] {
    const { isTls, host, port } = this.#origin;
    return { isTls, host, port, session: this.#owner.tlsSession, onRead: this.#onRead };
  }

  /** Takes a socket that leads to the upstream. */
  #adopt(socket: Socket, isTls: boolean): Socket {
    socket.on(isTls ? 'secureConnect' : 'connect', () => {
      if (!this.#isClosed) this.#owner.onConnect(this);
    });
    socket.on('session', (session: Buffer) => void (this.#owner.tlsSession = session));
    return this.#watch(socket);
  }

  #watch(socket: Socket): Socket {
    socket.setNoDelay(true);
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    socket.on('error', (fault) => {
      this.destroy(connectionFailed('The connection to the upstream failed.', fault));
    });
    socket.on('end', () => {
      if (socket === this.#socket) this.#end();
    });
    socket.on('close', () => this.destroy());
    return socket;
  }

  #readTunnel(tunnel: TunnelAnswer, bytes: Buffer): void {
    try {
      if (!tunnel.feed(bytes)) return;
    } catch (fault) {
      this.destroy(connectionFailed(fault instanceof Error ? fault.message : 'The proxy failed.'));
      return;
    }
    this.#tunnel = undefined;
    if (!this.#origin.isTls) this.#owner.onConnect(this);
    else this.#socket = this.#adopt(secureSocket(this.#socket, this.#target()), true);
  }

  #read(bytes: Buffer): void {
    if (this.#tunnel !== undefined) {
      this.#readTunnel(this.#tunnel, bytes);
      return;
    }
    const parser = this.#parser;
    // No request is open: the next one would take these bytes for its response.
    if (parser === undefined) this.destroy();
    else {
      try {
        if (parser.feed(bytes)) this.#finish(parser);
      } catch (fault) {
        this.destroy(new RequestError('protocol', 'The upstream did not send an HTTP response.', { cause: fault }));
      }
    }
  }

  #end(): void {
    if (this.#parser === undefined && this.#tunnel === undefined) this.#owner.onClosedIdle(this);
    if (this.#parser?.end() === true) this.#finish(this.#parser);
    this.destroy();
  }

  /** The response is complete. */
  #finish(parser: ResponseParser): void {
    const request = this.#request;
    this.#request = undefined;
    this.#parser = undefined;
    if (this.#isClosed) return;
    this.resume();
    request?.onEnd();
    this.#keepAliveMs = parser.keepAliveMs;
    if (!parser.isReusable) this.destroy();
    else if (this.#isWritten) this.#owner.onFree(this, parser.keepAliveMs);
    else {
      // Without a deadline, an upstream that responds and then reads nothing would hold the connection for ever.
      this.#isFreeOnceWritten = true;
      this.ticksLeft = ticksOf(CONNECT_MS_MAX);
    }
  }
}

export function connectionFailed(message: string, cause?: unknown): RequestError {
  return new RequestError('connection', message, { cause });
}
