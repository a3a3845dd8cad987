/** The bytes of the bodies that are arriving. They are bounded for the process, and for each caller within it. */
export interface ArrivingBodies {
  /** Begins to count a body of this caller. Returns undefined if there is no room: then refuse the request without reading on. */
  readonly begin: (caller: string) => ArrivingBody | undefined;
  /** What all bodies count for at present, in bytes. */
  readonly bytes: () => number;
}

interface ArrivingBody {
  /** Counts the bytes that this body has by now. Returns false if there is no room for them: then `end` it, and refuse it. */
  readonly grow: (bytes: number) => boolean;
  /** Ends the counting. May be called more than once. */
  readonly end: () => void;
}

interface ArrivingLimits {
  readonly bytesMax: number;
  /**
   * One caller gets no more than this part of the room that is left: a quarter of it if this is 4. So a few callers cannot keep
   * all others from being read: each leaves most of what it found.
   */
  readonly part: number;
}

/**
 * Every body counts for at least this much, even before any of it has arrived. A connection that sends nothing has a cost too, and
 * this bounds the number of bodies as well.
 */
const BODY_BYTES_MIN = 16_384;

/** What the bodies of one caller count for. */
interface Share {
  bytes: number;
}

export function createArrivingBodies({ bytesMax, part }: ArrivingLimits): ArrivingBodies {
  /**
   * The shares by caller. Callers of whom nothing arrives stay for a while, because to add and delete one with each
   * call would cost memory (`kernel/work/indexed-set.ts`).
   */
  const shares = new Map<string, Share>();
  const sharesMax = 2 * Math.ceil(bytesMax / BODY_BYTES_MIN);
  let all = 0;

  function shareOf(caller: string): Share {
    const known = shares.get(caller);
    if (known !== undefined) return known;
    if (shares.size >= sharesMax) for (const [one, { bytes }] of shares) if (bytes === 0) shares.delete(one);
    const share = { bytes: 0 };
    shares.set(caller, share);
    return share;
  }

  function take(share: Share, bytes: number): boolean {
    if ((share.bytes + bytes) * part > bytesMax - all - bytes) return false;
    all += bytes;
    share.bytes += bytes;
    return true;
  }

  return {
    begin: (caller) => {
      const share = shareOf(caller);
      if (!take(share, BODY_BYTES_MIN)) return undefined;
      let taken = BODY_BYTES_MIN;
      return {
        grow: (bytes) => {
          if (bytes <= taken) return true;
          if (!take(share, bytes - taken)) return false;
          taken = bytes;
          return true;
        },
        end: () => {
          all -= taken;
          share.bytes -= taken;
          taken = 0;
        },
      };
    },
    bytes: () => all,
  };
}

const MIB = 1_048_576;

/**
 * Bodies of callers whose key or session is known. All apps of an account count together, because anybody can make a hundred:
 * 25 MiB for one account alone.
 */
export const knownCallers = createArrivingBodies({ bytesMax: 128 * MIB, part: 4 });
/**
 * Bodies above 1 MiB, for as long as their calls keep them: a plain call until it is answered, a stream until it has begun. A call has
 * a body up to four times, as bytes and as text.
 */
export const largeBodies = createArrivingBodies({ bytesMax: 256 * MIB, part: 4 });
/** Bodies of anybody else, of at most 16 KiB each: 512 at once, 56 of them from one network address (CP-11). */
export const strangers = createArrivingBodies({ bytesMax: 8 * MIB, part: 8 });
/**
 * Webhooks of the payment processor. Apart from those of strangers, so that these cannot keep a payment from being booked. Anybody
 * can send to that address, so these count by network address too.
 */
export const processors = createArrivingBodies({ bytesMax: 32 * MIB, part: 4 });
