/** A body that is up to this large waits for nothing. Those of all calls at once are bounded by the number of calls. */
export const SMALL_BYTES_MAX = 1024 * 1024;
/** How many larger bodies may be in memory at once, arriving or being handled. More wait, and back-pressure holds them up. */
const LARGE_AT_ONCE = 4;

/** The place of one large body. Leave it when nothing of the body is needed any more, or others wait for ever. */
export interface LargeBody {
  /**
   * Resolves in another turn of the event loop, and only while no other large body is being handled. Call it before each step of
   * the handling, so that a step of one body is the longest time for which other requests wait.
   */
  readonly nextStep: () => Promise<void>;
  /** Lets the next large body in. A second call does nothing. */
  readonly leave: () => void;
}

/** What large bodies take of a process: how many are in memory, and that only one is handled at a time. */
export class LargeBodies {
  readonly #inside = new Set<Place>();
  /** Those that wait for room are in the order in which they came. */
  readonly #outside = new Map<Place, () => void>();
  readonly #forTurn = new Map<Place, () => void>();
  #handled: Place | undefined;

  /** How many are in memory, wait for that, and are being handled. Tests count them. */
  get counts(): { readonly inside: number; readonly outside: number; readonly handled: number } {
    return { inside: this.#inside.size, outside: this.#outside.size, handled: this.#handled === undefined ? 0 : 1 };
  }

  /** Calls `onRoom` once there is room if there is none now. Until then nothing more of the body should be read. */
  enter(onRoom: () => void): LargeBody & { readonly isInside: boolean } {
    const place: Place = { nextStep: () => this.#nextStep(place), leave: () => this.#leave(place) };
    const isInside = this.#inside.size < LARGE_AT_ONCE;
    if (isInside) this.#inside.add(place);
    else this.#outside.set(place, onRoom);
    return { ...place, isInside };
  }

  async #nextStep(place: Place): Promise<void> {
    if (this.#handled !== undefined && this.#handled !== place) {
      await new Promise<void>((resolve) => void this.#forTurn.set(place, resolve));
    }
    this.#handled = place;
    await new Promise((resolve) => setImmediate(resolve));
  }

  #leave(place: Place): void {
    this.#outside.delete(place);
    if (this.#inside.delete(place)) admitFirst(this.#outside, this.#inside);
    if (this.#handled !== place) return;
    const [next] = this.#forTurn;
    this.#handled = next?.[0];
    if (next === undefined) return;
    this.#forTurn.delete(next[0]);
    next[1]();
  }
}

type Place = LargeBody;

function admitFirst(outside: Map<Place, () => void>, inside: Set<Place>): void {
  const [first] = outside;
  if (first === undefined) return;
  outside.delete(first[0]);
  inside.add(first[0]);
  first[1]();
}
