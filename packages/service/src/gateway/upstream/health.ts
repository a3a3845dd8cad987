/** What is known of one server, or of one key at it, from the calls of this process. */
type HealthState = 'closed' | 'open' | 'testing';

/** How long a call counts as evidence, in slots, the oldest of which is dropped as a whole. */
const SLOT_MS = 10_000;
const SLOTS = 6;

/** The least failures that open the breaker, if they are half of all calls: one failure says nothing. */
const FAILURES_MIN = 3;

const PAUSE_MS_MIN = 5_000;
/**
 * The longest pause of an upstream, also if its provider asks for a longer one, because a mistaken `retry-after` of a day must not close it out for that
 * long.
 */
const PAUSE_MS_MAX = 60_000;

const CALLS = 0;
const FAILURES = 1;
const FIRST_BYTES = 2;
const FIRST_BYTE_MS = 3;
const FIELDS = 4;

/** Sums of the last minute. */
interface HealthCounts {
  readonly calls: number;
  readonly failures: number;
  /** The mean time to the first byte of a stream, in milliseconds. It is undefined if no stream began. */
  readonly firstByteMs: number | undefined;
}

/**
 * Counts how calls end, and is a breaker: it opens on evidence, lets one call test after a pause, and closes when that call is
 * answered. An open breaker refuses nothing by itself: it says who is asked first. All times are of one steady clock.
 */
export class Health {
  readonly #sums = new Float64Array(SLOTS * FIELDS);
  #slot = 0;
  /** The time until which the breaker stays open. It is undefined while the breaker is closed. */
  #openUntilMs: number | undefined;
  #pauseMs = 0;
  #isTesting = false;

  state(): HealthState {
    if (this.#openUntilMs === undefined) return 'closed';
    return this.#isTesting ? 'testing' : 'open';
  }

  /** Milliseconds until an open breaker lets a call test. 0 if it does already, or is closed. */
  opensInMs(nowMs: number): number {
    return Math.max(0, (this.#openUntilMs ?? 0) - nowMs);
  }

  /** Returns true if a call should be sent here, because nothing speaks against it or this call would be the test. */
  admits(nowMs: number): boolean {
    if (this.#openUntilMs === undefined) return true;
    return !this.#isTesting && nowMs >= this.#openUntilMs;
  }

  /** Begins a call, and returns whether its outcome decides about an open breaker. Call it when a call is sent. */
  begin(nowMs: number): boolean {
    if (this.#openUntilMs === undefined) return false;
    // A call that is sent in spite of an open breaker, because nobody else is left, is as good as a test.
    if (nowMs >= this.#openUntilMs) this.#isTesting = true;
    return true;
  }

  /** Returns whether it closed an open breaker. */
  succeeded(nowMs: number, isTest: boolean): boolean {
    this.#add(CALLS, 1, nowMs);
    if (!isTest || this.#openUntilMs === undefined) return false;
    this.#openUntilMs = undefined;
    this.#isTesting = false;
    this.#pauseMs = 0;
    this.#sums.fill(0); // What failed before the pause must not open it again.
    return true;
  }

  /** Notes how long the first chunk of a stream took. */
  began(nowMs: number, firstByteMs: number): void {
    this.#add(FIRST_BYTES, 1, nowMs);
    this.#add(FIRST_BYTE_MS, firstByteMs, nowMs);
  }

  /**
   * Returns whether it opened a closed breaker. `retryAfterMs`: how long the provider asks us to wait. `isCounted`: the call was
   * counted as answered before it broke.
   */
  failed(nowMs: number, isTest: boolean, { retryAfterMs = 0, isCounted = false }: Failure = {}): boolean {
    if (!isCounted) this.#add(CALLS, 1, nowMs);
    this.#add(FAILURES, 1, nowMs);
    if (this.#openUntilMs === undefined) {
      const failures = this.#sum(FAILURES, nowMs);
      if (failures < FAILURES_MIN || failures * 2 < this.#sum(CALLS, nowMs)) return false;
      this.#open(nowMs, retryAfterMs);
      return true;
    }
    if (isTest && nowMs >= this.#openUntilMs) this.#open(nowMs, retryAfterMs);
    return false;
  }

  /** The call ended without saying anything about the upstream. */
  withdrawn(isTest: boolean): void {
    if (isTest) this.#isTesting = false;
  }

  counts(nowMs: number): HealthCounts {
    const firstBytes = this.#sum(FIRST_BYTES, nowMs);
    return {
      calls: this.#sum(CALLS, nowMs),
      failures: this.#sum(FAILURES, nowMs),
      firstByteMs: firstBytes === 0 ? undefined : Math.round(this.#sum(FIRST_BYTE_MS, nowMs) / firstBytes),
    };
  }

  /** Opens the breaker. The pause doubles each time a test fails, or is what the provider asks for. */
  #open(nowMs: number, retryAfterMs: number): void {
    this.#pauseMs = Math.min(Math.max(this.#pauseMs * 2, PAUSE_MS_MIN), PAUSE_MS_MAX);
    this.#openUntilMs = nowMs + Math.max(this.#pauseMs, Math.min(retryAfterMs, PAUSE_MS_MAX));
    this.#isTesting = false;
  }

  #add(field: number, by: number, nowMs: number): void {
    this.#turnTo(nowMs);
    const at = (this.#slot % SLOTS) * FIELDS + field;
    this.#sums[at] = (this.#sums[at] ?? 0) + by;
  }

  #sum(field: number, nowMs: number): number {
    this.#turnTo(nowMs);
    let sum = 0;
    for (let at = field; at < this.#sums.length; at += FIELDS) sum += this.#sums[at] ?? 0;
    return sum;
  }

  /** Empties the slots that lie between the newest and now: what they held is more than a minute old. */
  #turnTo(nowMs: number): void {
    const slot = Math.floor(nowMs / SLOT_MS);
    if (slot === this.#slot) return;
    const first = Math.max(this.#slot + 1, slot - SLOTS + 1);
    for (let one = first; one <= slot; one += 1) {
      const at = (one % SLOTS) * FIELDS;
      this.#sums.fill(0, at, at + FIELDS);
    }
    this.#slot = slot;
  }
}

interface Failure {
  readonly retryAfterMs?: number;
  readonly isCounted?: boolean;
}
