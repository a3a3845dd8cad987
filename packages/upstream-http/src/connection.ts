import { isIP, connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ticksOf, type Timed } from './deadlines.ts';
import { RequestError } from './request-error.ts';
import { ResponseParser, type ResponseSink } from './response-parser.ts';

const CONNECT_MS_MAX = 10_000;
/** The most that one read of a socket takes. */
const READ_BYTES = 64 * 1024;
/**
 * All connections read into this memory, one after another. Each read is handled before the next one begins, so nothing
 * may keep a slice of it. Code that needs bytes later must copy them.
 */
const READ_MEMORY = Buffer.allocUnsafeSlow(READ_BYTES);
/** How long a connection may be silent before TCP probes whether the other side is still there. */
const TCP_KEEP_ALIVE_MS = 60_000;

/** The address that connections lead to. */
export interface Origin {
  readonly isTls: boolean;
  readonly host: string;
  readonly port: number;
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
  /** For how many ticks it is kept idle, of which `ticksLeft` are left. */
  idleTicks = 0;
  readonly #owner: ConnectionOwner;
  readonly #socket: Socket;
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
    this.#socket = open(origin, owner.tlsSession, (bytes) => this.#read(bytes));
    this.#socket.setNoDelay(true);
    this.#socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    this.#socket.on(origin.isTls ? 'secureConnect' : 'connect', () => {
      if (!this.#isClosed) owner.onConnect(this);
    });
    this.#socket.on('session', (session: Buffer) => void (owner.tlsSession = session));
    this.#socket.on('error', (fault) => {
      this.destroy(connectionFailed('The connection to the upstream failed.', fault));
    });
    this.#socket.on('end', () => this.#end());
    this.#socket.on('close', () => this.destroy());
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

  #read(bytes: Buffer): void {
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
    if (this.#parser === undefined) this.#owner.onClosedIdle(this);
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

function open({ isTls, host, port }: Origin, session: Buffer | undefined, onRead: (bytes: Buffer) => void): Socket {
  // `onread` bypasses Node's streams, which allocate new memory for each read.
  const callback = (bytes: number): true => {
    onRead(READ_MEMORY.subarray(0, bytes));
    return true;
  };
  const onread = { buffer: READ_MEMORY, callback };
  if (!isTls) return connectPlain({ host, port, onread });
  const options = { host, port, onread, ALPNProtocols: ['http/1.1'], ...(session && { session }) };
  // SNI takes names only. Node checks the certificate against the address if there is no name.
  return connectTls(isIP(host) === 0 ? { ...options, servername: host } : options);
}
