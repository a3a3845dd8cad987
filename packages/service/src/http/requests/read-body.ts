import type { IncomingMessage } from 'node:http';
import type { Exchange } from '#http/answers/respond.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/** The limit is 1 MiB (CC-06). */
export const BODY_BYTES_MAX = 1_048_576;
/** The limit of routes that anybody may call (CP-11). Far more than any of them needs. The largest form carries a passkey. */
export const PUBLIC_BODY_BYTES_MAX = 16_384;

const EMPTY = Buffer.alloc(0);

type BodyRefusal = Refusal<'PAYLOAD_TOO_LARGE' | 'BAD_REQUEST' | 'TOO_MANY_REQUESTS'>;
type ReadBody = Buffer | BodyRefusal | undefined;

type Sides = Pick<Exchange, 'request' | 'response'>;

/** The account on which a body is read. */
export interface BodyReader {
  readonly arriving: ArrivingBodies;
  /** The account or network address whose bodies count together. */
  readonly caller: string;
  /** The most bytes of the body. The limit is 1 MiB if it is left out. */
  readonly most?: number | undefined;
}

/**
 * The refusal of a body that shows in the head of the request: above the limit as declared, or compressed. A compressed body
 * is never inflated: 1 MiB could inflate to a gigabyte (CC-06). Check this before the key or session (CC-10).
 */
export function declaredRefusal({ headers }: Pick<IncomingMessage, 'headers'>, most = BODY_BYTES_MAX) {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    return refuse('BAD_REQUEST', 'The body must not be compressed: send it without `content-encoding`.', {
      param: 'content-encoding',
    });
  }
  const declared = headers['content-length'];
  return declared !== undefined && Number(declared) > most ? tooLarge(most) : undefined;
}

/**
 * Reads a body to its end. A body above the limit is refused as soon as that is known, declared or not, without reading on.
 * Undefined if the caller left halfway. Returns without a promise if there is nothing to wait for, because this is on the
 * hot path. Call it once the caller is known, so that nobody else's body is kept.
 */
export function readBody(exchange: Sides, reader: BodyReader): ReadBody | Promise<ReadBody> {
  const { request } = exchange;
  const refusal = declaredRefusal(request, reader.most);
  if (refusal !== undefined) return refusal;
  const { headers } = request;
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return EMPTY;
  return collect(exchange, reader);
}

/**
 * Collects the body by events and not by `for await`, because an iterator would destroy the request, and with it the
 * connection, on a refusal.
 */
function collect(
  { request, response }: Sides,
  { arriving, caller, most = BODY_BYTES_MAX }: BodyReader,
): Promise<ReadBody> {
  const counted = arriving.begin(caller);
  if (counted === undefined) return Promise.resolve(tooMany());
  return new Promise((resolve) => {
    let whole: Buffer = EMPTY; // Most bodies arrive in one part, which need not be copied.
    let more: Buffer[] | undefined;
    let bytes = 0;
    // The listeners keep this scope alive until the answer ends, so a long stream would keep the body's bytes too.
    const end = (body: ReadBody) => {
      counted.end();
      whole = EMPTY;
      more = undefined;
      resolve(body);
    };
    const leave = () => end(undefined);
    request.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > most || !counted.grow(bytes)) {
        // The refusal is answered now. `sendRefusal` takes the rest off the line and closes the connection.
        request.removeAllListeners('data');
        request.pause();
        end(bytes > most ? tooLarge(most) : tooMany());
      } else if (bytes === part.length) {
        whole = part;
      } else {
        more ??= [whole];
        more.push(part);
      }
    });
    request.on('end', () => end(more === undefined ? whole : Buffer.concat(more, bytes)));
    // After `end` this changes nothing. Before it, the caller has left, or the server has refused the request as malformed
    // or too slow. Node does not close such a request, only its response.
    request.on('close', leave);
    response.on('close', leave);
    if (request.destroyed || response.destroyed) leave(); // It had left before this function was called.
  });
}

/**
 * The refusal of a caller whose key or app was refused (CC-10). A body above the limit is refused for its size first, and if
 * its length was not declared, that shows only as it arrives. It is counted and not kept, so nobody without a key makes the
 * process hold a body. Under an attack, when too many such bodies arrive, the refusal does not wait for them.
 */
export function afterBody<Refused extends Refusal>(
  { request, response }: Sides,
  refusal: Refused,
  most = BODY_BYTES_MAX,
): Refused | Promise<Refused | BodyRefusal> {
  if (request.headers['transfer-encoding'] === undefined) return refusal;
  const counted = strangers.begin(request.socket.remoteAddress ?? '');
  if (counted === undefined) return refusal;
  return new Promise((resolve) => {
    let bytes = 0;
    const end = (refused: Refused | BodyRefusal) => {
      counted.end();
      resolve(refused);
    };
    request.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes <= most) return;
      request.removeAllListeners('data');
      request.pause();
      end(tooLarge(most));
    });
    request.on('end', () => end(refusal));
    for (const side of [request, response]) side.on('close', () => end(refusal));
    if (request.destroyed || response.destroyed) end(refusal);
  });
}

function tooLarge(most: number): Refusal<'PAYLOAD_TOO_LARGE'> {
  return refuse('PAYLOAD_TOO_LARGE', `The body exceeds the limit of ${most} bytes.`);
}

export function tooMany(): Refusal<'TOO_MANY_REQUESTS'> {
  const message = 'Too many bodies are arriving at the same time. Send this one again in a second.';
  return refuse('TOO_MANY_REQUESTS', message, { retryAfterSeconds: 1 });
}

/**
 * Every body counts for at least this much, even before any of it has arrived. A connection that sends nothing has a cost too, and
 * this bounds the number of bodies as well.
 */
const ARRIVING_BYTES_MIN = 16_384;

interface ArrivingLimits {
  readonly bytesMax: number;
  /**
   * One caller gets no more than this part of the room that is left: a quarter of it if this is 4. So a few callers cannot keep
   * all others from being read: each leaves most of what it found.
   */
  readonly part: number;
}

/** The bytes of the bodies that are arriving. They are bounded for the process, and for each caller within it. */
export class ArrivingBodies {
  /**
   * What the bodies of each caller count for. Callers of whom nothing arrives stay for a while, because to add and delete one with
   * each call would cost memory (`kernel/work/indexed-set.ts`).
   */
  readonly #shares = new Map<string, Share>();
  readonly #limits: ArrivingLimits;
  #all = 0;

  constructor(limits: ArrivingLimits) {
    this.#limits = limits;
  }

  /** What all bodies count for at present, in bytes. */
  bytes(): number {
    return this.#all;
  }

  /** Begins to count a body of this caller. Returns undefined if there is no room: then refuse the request without reading on. */
  begin(caller: string): ArrivingBody | undefined {
    const share = this.#shares.get(caller) ?? this.#addShare(caller);
    return this.take(share, ARRIVING_BYTES_MIN) ? new ArrivingBody(this, share) : undefined;
  }

  /** Takes as many bytes as there is room for, for one of its bodies. Takes fewer than none back. */
  take(share: Share, bytes: number): boolean {
    const { bytesMax, part } = this.#limits;
    if (bytes > 0 && (share.bytes + bytes) * part > bytesMax - this.#all - bytes) return false;
    this.#all += bytes;
    share.bytes += bytes;
    return true;
  }

  #addShare(caller: string): Share {
    const sharesMax = 2 * Math.ceil(this.#limits.bytesMax / ARRIVING_BYTES_MIN);
    if (this.#shares.size >= sharesMax)
      for (const [one, { bytes }] of this.#shares) if (bytes === 0) this.#shares.delete(one);
    const share = { bytes: 0 };
    this.#shares.set(caller, share);
    return share;
  }
}

interface Share {
  bytes: number;
}

class ArrivingBody {
  readonly #all: ArrivingBodies;
  readonly #share: Share;
  #bytes = ARRIVING_BYTES_MIN;

  constructor(all: ArrivingBodies, share: Share) {
    this.#all = all;
    this.#share = share;
  }

  /** Counts the bytes that this body has by now. Returns false if there is no room for them: then `end` it, and refuse it. */
  grow(bytes: number): boolean {
    if (bytes <= this.#bytes) return true;
    if (!this.#all.take(this.#share, bytes - this.#bytes)) return false;
    this.#bytes = bytes;
    return true;
  }

  /** Ends the counting. May be called more than once. */
  end(): void {
    if (this.#bytes > 0) this.#all.take(this.#share, -this.#bytes);
    this.#bytes = 0;
  }
}

/**
 * Bodies of callers whose key or session is known. All apps of an account count together, because anybody can make a hundred:
 * 25 MiB for one account alone.
 */
export const knownCallers = new ArrivingBodies({ bytesMax: 128 * BODY_BYTES_MAX, part: 4 });
/**
 * Bodies above 1 MiB, for as long as their calls keep them: a plain call until it is answered, a stream until it has begun. A call has
 * a body up to four times, as bytes and as text.
 */
export const largeBodies = new ArrivingBodies({ bytesMax: 256 * BODY_BYTES_MAX, part: 4 });
/** Bodies of anybody else, of at most 16 KiB each: 512 at once, 56 of them from one network address (CP-11). */
export const strangers = new ArrivingBodies({ bytesMax: 8 * BODY_BYTES_MAX, part: 8 });
/**
 * Webhooks of the payment processor. Apart from those of strangers, so that these cannot keep a payment from being booked. Anybody
 * can send to that address, so these count by network address too.
 */
export const processors = new ArrivingBodies({ bytesMax: 32 * BODY_BYTES_MAX, part: 4 });
