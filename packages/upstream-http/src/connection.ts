import { isIP, connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AnswerParser, type AnswerSink } from '#providers/http/answer-parser.ts';
import { ticksOf, type Timed } from '#providers/http/deadlines.ts';
import { UpstreamError } from '#providers/provider.ts';

const CONNECT_MS_MAX = 10_000;
/** What is larger comes in several reads. */
const READ_BYTES = 64 * 1024;
/** All connections are read into it, one at a time: what is read is handed on before the next read, and not kept. */
const READ_MEMORY = Buffer.allocUnsafeSlow(READ_BYTES);
/** When the network itself asks whether the other side is there. */
const PROBE_MS = 60_000;

/** Where connections lead to. */
export interface Origin {
  readonly isTls: boolean;
  readonly host: string;
  readonly port: number;
}

/** A request, as it is written. */
export interface RequestBytes {
  readonly bytes: string;
  readonly encoding: 'latin1' | 'utf8';
}

/** One request that a connection is to send, and who hears of its answer: `onEnd` or `onError` is the last of it. */
export interface Sending extends AnswerSink {
  /** The whole of it, which is let go by that: an answer may take long, and a request is never sent twice. */
  readonly takeRequest: () => RequestBytes;
  readonly onEnd: () => void;
  readonly onError: (error: UpstreamError) => void;
}

/** Who keeps a connection when it has nothing to do. */
export interface ConnectionKeeper {
  readonly onConnect: (connection: Connection) => void;
  /** It can be used again; for so long, where the provider says how long it keeps it. */
  readonly onFree: (connection: Connection, keptMs: number | undefined) => void;
  /** It has ended, or could not be opened. */
  readonly onClose: (connection: Connection, error: UpstreamError) => void;
  /** What makes the next connection cheaper for both sides. */
  session: Buffer | undefined;
}

/** A connection to a provider: one request at a time, its answer read strictly, and destroyed at the first doubt. */
export class Connection implements Timed {
  ticksLeft = ticksOf(CONNECT_MS_MAX);
  readonly #keeper: ConnectionKeeper;
  readonly #socket: Socket;
  #isClosed = false;
  #isPaused = false;
  /** Of the last request: all of it has left. */
  #isWritten = true;
  /** The answer is whole before its request was written. */
  #isAhead = false;
  #keptMs: number | undefined;
  readonly #onWritten = (): void => {
    this.#isWritten = true;
    if (!this.#isAhead || this.#isClosed) return;
    this.#isAhead = false;
    this.#keeper.onFree(this, this.#keptMs);
  };
  #sending: Sending | undefined;
  #parser: AnswerParser | undefined;

  constructor(origin: Origin, keeper: ConnectionKeeper) {
    this.#keeper = keeper;
    this.#socket = open(origin, keeper.session, (bytes) => this.#read(bytes));
    this.#socket.setNoDelay(true);
    this.#socket.setKeepAlive(true, PROBE_MS);
    this.#socket.on(origin.isTls ? 'secureConnect' : 'connect', () => {
      if (!this.#isClosed) keeper.onConnect(this);
    });
    this.#socket.on('session', (session: Buffer) => void (keeper.session = session));
    this.#socket.on('error', (fault) => this.destroy(outage('The connection to the provider failed.', fault)));
    this.#socket.on('end', () => this.#end());
    this.#socket.on('close', () => this.destroy());
  }

  /** Writes the request. Only on one that is connected and idle. */
  send(sending: Sending): void {
    this.#sending = sending;
    this.#parser = new AnswerParser(sending);
    this.#isWritten = false;
    const { bytes, encoding } = sending.takeRequest();
    this.#socket.write(bytes, encoding, this.#onWritten);
  }

  /** No more is read until `resume`. */
  pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  /** It was idle for long enough, or could not be opened in time. */
  onOverdue(): void {
    this.destroy(outage('The provider could not be reached in time.'));
  }

  /** Ends it at once. Who waits for an answer hears of `error`. */
  destroy(error: UpstreamError = outage('The provider closed the connection.')): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket.destroy();
    const sending = this.#sending;
    this.#sending = undefined;
    this.#parser = undefined;
    this.#keeper.onClose(this, error);
    sending?.onError(error);
  }

  #read(bytes: Buffer): void {
    const parser = this.#parser;
    // What nobody asked for would be taken for the next answer.
    if (parser === undefined) this.destroy();
    else {
      try {
        if (parser.feed(bytes)) this.#finish(parser);
      } catch (fault) {
        this.destroy(outage('The provider sent what is no answer.', fault));
      }
    }
  }

  #end(): void {
    if (this.#parser?.end() === true) this.#finish(this.#parser);
    this.destroy();
  }

  /** The answer is whole. */
  #finish(parser: AnswerParser): void {
    const sending = this.#sending;
    this.#sending = undefined;
    this.#parser = undefined;
    if (this.#isClosed) return;
    this.resume();
    sending?.onEnd();
    this.#keptMs = parser.keptMs;
    if (!parser.isKept) this.destroy();
    else if (this.#isWritten) this.#keeper.onFree(this, parser.keptMs);
    else {
      this.#isAhead = true;
      this.ticksLeft = ticksOf(CONNECT_MS_MAX);
    }
  }
}

export function outage(message: string, cause?: unknown): UpstreamError {
  return new UpstreamError('outage', message, { cause });
}

function open({ isTls, host, port }: Origin, session: Buffer | undefined, onRead: (bytes: Buffer) => void): Socket {
  // Below the streams of Node, which would have memory of its own for each read.
  const callback = (bytes: number): true => {
    onRead(READ_MEMORY.subarray(0, bytes));
    return true;
  };
  const onread = { buffer: READ_MEMORY, callback };
  if (!isTls) return connectPlain({ host, port, onread });
  const options = { host, port, onread, ALPNProtocols: ['http/1.1'], ...(session && { session }) };
  // An address is checked against the certificate as well, but cannot be asked for by name.
  return connectTls(isIP(host) === 0 ? { ...options, servername: host } : options);
}
