import type { Signal } from '#kernel/work/signal.ts';
import type { SteadyClock } from '#kernel/time/clock.ts';
import type { AppId } from '#kernel/values/ids.ts';
import { UpstreamError } from '#providers/port/provider.ts';

/** How much one process sends to one provider. A limit that is undefined does not exist. */
export interface GateLimits {
  readonly callsAtOnce?: number | undefined;
  readonly callsPerMinute?: number | undefined;
  /** How long a call may wait for its turn. */
  readonly queueMs?: number | undefined;
}

const QUEUE_MS = 1_000;
/**
 * The most calls that may wait for one provider in one process. The limit of a wait bounds the queue as well, but not
 * under a flood.
 */
const WAITING_MAX = 1_000;
const MINUTE_MS = 60_000;
/** A call under way may end at any moment. */
const RETRY_SECONDS = 1;

interface Entering {
  readonly appId: AppId;
  /** What is left of the call's own time. */
  readonly waitMsMax: number;
  readonly gone: Signal;
}

interface Waiter {
  readonly enter: () => void;
}

/**
 * Keeps the calls of this process to one provider within its limits. Calls that wait are let in app by app, so that one app with
 * many calls does not keep another out.
 */
export class Gate {
  readonly #clock: SteadyClock;
  #limits: GateLimits = {};
  #running = 0;
  /** The waiting calls by app. It has only apps that wait, and the app whose turn is next comes first. */
  readonly #waiting = new Map<AppId, Set<Waiter>>();
  #waitingCount = 0;
  /** When the last `callsPerMinute` calls were sent: a ring, so that no minute ever has more of them. */
  #sentMs = new Float64Array(0);
  #oldest = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(clock: SteadyClock) {
    this.#clock = clock;
  }

  /** Sets the limits, which change with the catalogue. Calls of the last minute are forgotten if their number changes. */
  setLimits(limits: GateLimits): void {
    this.#limits = limits;
    const { callsPerMinute = 0 } = limits;
    if (callsPerMinute === this.#sentMs.length) return;
    this.#sentMs = new Float64Array(callsPerMinute).fill(Number.NEGATIVE_INFINITY);
    this.#oldest = 0;
  }

  running(): number {
    return this.#running;
  }

  waiting(): number {
    return this.#waitingCount;
  }

  /**
   * Takes a place. Undefined if it was free. The promise rejects with `throttled` if no place gets free in time, and with `unsent` if
   * the caller leaves. Call `leave` once for each place.
   */
  enter({ appId, waitMsMax, gone }: Entering): Promise<void> | undefined {
    if (this.#waitingCount === 0 && this.#hasRoom()) {
      this.#take();
      return undefined;
    }
    const waitMs = Math.min(this.#limits.queueMs ?? QUEUE_MS, waitMsMax);
    if (waitMs <= 0 || this.#waitingCount >= WAITING_MAX) throw this.#overflow();
    return this.#wait(appId, waitMs, gone);
  }

  leave(): void {
    this.#running -= 1;
    this.#letIn();
  }

  #wait(appId: AppId, waitMs: number, gone: Signal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const end = (): void => {
      clearTimeout(timer);
      gone.removeEventListener('abort', onGone);
      this.#remove(appId, waiter);
    };
    const onGone = (): void => {
      end();
      reject(new UpstreamError('unsent', 'The caller left before the provider was called.'));
    };
    const waiter: Waiter = {
      enter: () => {
        end();
        this.#take();
        resolve();
      },
    };
    const timer = setTimeout(() => {
      end();
      reject(this.#overflow());
    }, waitMs);
    gone.addEventListener('abort', onGone);
    const ofApp = this.#waiting.get(appId);
    if (ofApp === undefined) this.#waiting.set(appId, new Set([waiter]));
    else ofApp.add(waiter);
    this.#waitingCount += 1;
    this.#watchRate();
    return promise;
  }

  #remove(appId: AppId, waiter: Waiter): void {
    const ofApp = this.#waiting.get(appId);
    if (ofApp?.delete(waiter) !== true) return;
    this.#waitingCount -= 1;
    if (ofApp.size === 0) this.#waiting.delete(appId);
    if (this.#waitingCount === 0) clearTimeout(this.#timer);
  }

  #letIn(): void {
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined || !this.#hasRoom()) break;
      const [appId, ofApp] = next;
      const [waiter] = ofApp;
      // To the end, behind the apps that have not had this turn.
      this.#waiting.delete(appId);
      this.#waiting.set(appId, ofApp);
      waiter?.enter();
    }
    if (this.#waitingCount > 0) this.#watchRate();
  }

  /** A place under `callsPerMinute` gets free by time alone. */
  #watchRate(): void {
    clearTimeout(this.#timer);
    const ms = this.#rateFreeInMs();
    if (ms > 0) this.#timer = setTimeout(() => this.#letIn(), Math.ceil(ms));
  }

  #hasRoom(): boolean {
    const { callsAtOnce } = this.#limits;
    return (callsAtOnce === undefined || this.#running < callsAtOnce) && this.#rateFreeInMs() <= 0;
  }

  #rateFreeInMs(): number {
    const oldestMs = this.#sentMs[this.#oldest];
    return oldestMs === undefined ? 0 : oldestMs + MINUTE_MS - this.#clock.nowMs();
  }

  #take(): void {
    this.#running += 1;
    if (this.#sentMs.length === 0) return;
    this.#sentMs[this.#oldest] = this.#clock.nowMs();
    this.#oldest = (this.#oldest + 1) % this.#sentMs.length;
  }

  #overflow(): UpstreamError {
    const retryAfterSeconds = Math.max(RETRY_SECONDS, Math.ceil(this.#rateFreeInMs() / 1_000));
    return new UpstreamError('throttled', 'As many calls as this provider may have are under way.', {
      retryAfterSeconds,
      isOwnLimit: true,
    });
  }
}
