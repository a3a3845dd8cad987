import type { Upstream } from '#catalogue/catalogue.ts';
import type { Asked, Gone } from '#gateway/call/call.ts';
import { traceHeaders } from '#gateway/call/call-span.ts';
import type { Hold } from '#gateway/call/lane.ts';
import type { Route } from '#gateway/call/route.ts';
import type { FailedTry } from '#gateway/call/serving.ts';
import { canGoOn, evidenceOf, moreTelling } from '#gateway/upstream/failure.ts';
import type { Gate } from '#gateway/upstream/gate.ts';
import { TryTimer } from '#gateway/upstream/try-timer.ts';
import type { UpstreamState, UpstreamStates } from '#gateway/upstream/upstream-state.ts';
import { isCovered, outputTokensWithin, providerCallOf } from '#gateway/usage/hold-request.ts';
import type { SteadyClock } from '#kernel/time/clock.ts';
import type { Mode } from '#kernel/values/ids.ts';
import type { Signal } from '#kernel/work/signal.ts';
import { type ProviderCall, UpstreamError } from '#providers/port/provider.ts';

/** How long a stream may take until its first chunk if its entry does not say, and another upstream can be asked then. */
const FIRST_BYTE_MS = 60_000;
/** Requests of one call, over all upstreams and keys. */
const TRIES_MAX = 6;
const MS_PER_SECOND = 1_000;
/** A fault of our own, which has no kind. */
const OURS = { kind: '_OTHER', status: undefined } as const;

/** The route of a call with real money. There is one for every call, so it holds little, and nothing of the request. */
export class TryRoute implements Route {
  upstream: Upstream;
  key = 0;
  tries = 0;
  isAnswered = false;
  sentMs = 0;
  /** The failed tries of a call that needed more than one request, or failed. Most calls make no list. */
  failedTries: FailedTry[] | undefined;
  readonly outputTokens: number;
  readonly #hold: Hold<Mode>;
  readonly #gone: Gone;
  readonly #states: UpstreamStates;
  readonly #clock: SteadyClock;
  /** The time of the first try. It is undefined before that. */
  #begunMs: number | undefined;
  /** The state of the upstream. The first try finds it, because the hold must end even if it cannot be found. */
  #found: UpstreamState | undefined;
  /** One bit for each of the call's upstreams that was asked. */
  #asked = 0;
  /** How many more keys of this upstream's pool may be tried. */
  #keysLeft = 0;
  /** The upstream for the next try is chosen already. */
  #isChosen = false;
  #isSent = false;
  /** The provider's gate, if a place there is taken. Kept, because an edit of the catalogue may take the gate away meanwhile. */
  #inside: Gate | undefined;
  #isServerTest = false;
  #isKeyTest = false;
  #told: { readonly fault: UpstreamError; readonly upstream: Upstream } | undefined;
  #timer: TryTimer | undefined;

  constructor(hold: Hold<Mode>, gone: Gone, { states, clock }: RouteOptions) {
    this.#hold = hold;
    this.#gone = gone;
    this.#states = states;
    this.#clock = clock;
    const { call, granted } = hold;
    this.upstream = call.upstreams[0];
    this.outputTokens = outputTokensWithin(call, granted);
  }

  begin(): Promise<void> | undefined {
    const nowMs = this.#clock.nowMs();
    this.#begunMs ??= nowMs;
    if (!this.#isChosen) this.#choose(this.#nextPlace(nowMs) ?? 0, nowMs);
    this.#isChosen = false;
    this.#isSent = false;
    const { gate } = this.#state();
    if (gate === undefined) {
      this.#send(nowMs);
      return undefined;
    }
    const { appId } = this.#hold.call.app;
    const room = gate.enter({ appId, waitMsMax: this.#leftMs(nowMs), gone: this.#gone });
    if (room === undefined) return this.#sendInside(gate, nowMs);
    return room.then(() => this.#sendInside(gate, this.#clock.nowMs()));
  }

  callOf(asked: Asked): ProviderCall {
    const { upstream, outputTokens } = this;
    const headers = this.#traceHeaders();
    const timeoutMs = Math.min(upstream.timeoutMs, Math.max(1, Math.ceil(this.#leftMs(this.sentMs))));
    return providerCallOf(asked, { upstream, outputTokens, timeoutMs, headers });
  }

  /** Returns headers only for a provider that is to be told, according to the catalogue. Others are third parties. */
  #traceHeaders(): ProviderCall['headers'] {
    const { provider } = this.upstream;
    const { span } = this.#hold.call;
    if (span === undefined || !('traceContext' in provider) || provider.traceContext !== true) return undefined;
    return traceHeaders(span, this.tries);
  }

  signalFor(signal: Signal): Signal {
    const { firstByteMs = FIRST_BYTE_MS } = this.upstream;
    const hasLimit = this.upstream.firstByteMs !== undefined || this.#nextPlace(this.sentMs) !== undefined;
    const leftMs = this.#leftMs(this.sentMs);
    const limitMs = hasLimit ? Math.min(firstByteMs, leftMs) : leftMs;
    // The silence that a stream may keep ends it anyway. Only a shorter limit needs a timer.
    if (limitMs >= this.upstream.timeoutMs) return signal;
    this.#timer = new TryTimer(signal, limitMs);
    return this.#timer;
  }

  answered(): void {
    this.#timer?.begun();
    this.#timer = undefined;
    this.isAnswered = true;
    const nowMs = this.#clock.nowMs();
    const { server, keys, totals } = this.#state();
    totals.answered += 1;
    const key = keys[this.key];
    if (server.succeeded(nowMs, this.#isServerTest)) this.#states.tellClosed(this.#state());
    if (key?.succeeded(nowMs, this.#isKeyTest) === true) this.#states.tellClosed(this.#state(), key);
    if (!this.#hold.call.isStream) return this.#leave();
    const firstByteMs = nowMs - this.sentMs;
    totals.firstBytes += 1;
    totals.firstByteMs += firstByteMs;
    server.began(nowMs, firstByteMs);
  }

  failed(thrown: unknown): unknown {
    const fault = this.#timer?.hasFired() === true ? noFirstByte(thrown) : thrown;
    this.#timer?.end();
    this.#timer = undefined;
    if (this.#isSent) this.#note(fault);
    this.#leave();
    if (!canGoOn(fault)) return fault;
    if (!this.#isSent) this.#state().totals.overflows += 1;
    const told = moreTelling(this.#told, { fault, upstream: this.upstream });
    this.#told = told;
    if (this.#goesOn(fault)) return undefined;
    this.upstream = told.upstream; // The log names the one whose failure the caller is told.
    return told.fault;
  }

  /** Chooses the key or the upstream for the next try. False if there is none, or the call may go nowhere any more. */
  #goesOn(fault: UpstreamError): boolean {
    const nowMs = this.#clock.nowMs();
    if (this.#gone.aborted || this.tries >= TRIES_MAX || this.#leftMs(nowMs) <= 0) return false;
    if (this.#isSent && evidenceOf(fault) === 'key' && this.#nextKey(nowMs)) return true;
    const next = this.#nextPlace(nowMs);
    if (next !== undefined) this.#choose(next, nowMs);
    return next !== undefined;
  }

  ended(fault?: unknown): void {
    this.#leave();
    // A failure before the first chunk was counted when it came.
    if (!this.isAnswered || !(fault instanceof UpstreamError) || evidenceOf(fault) === 'none') return;
    const { server, totals } = this.#state();
    totals.answered -= 1;
    totals.failed += 1;
    const hasOpened = server.failed(this.#clock.nowMs(), false, { isCounted: true });
    if (hasOpened) this.#states.tellOpen(this.#state(), fault);
  }

  /**
   * The next upstream that was not asked yet and that the hold covers (CC-16). One whose breaker is open goes last: what it may fail
   * has failed everywhere else.
   */
  #nextPlace(nowMs: number): number | undefined {
    const { call, granted } = this.#hold;
    const { upstreams } = call;
    if (upstreams.length === 1) return this.#asked === 0 ? 0 : undefined;
    let last: number | undefined;
    for (const [place, upstream] of upstreams.entries()) {
      if ((this.#asked & (1 << place)) !== 0) continue;
      // The first is always covered: the output limit was worked out by its price.
      if (place > 0 && !isCovered(call, upstream, { granted, outputTokens: this.outputTokens })) continue;
      if (admits(this.#states.of(upstream), nowMs)) return place;
      last ??= place;
    }
    return last;
  }

  #choose(place: number, nowMs: number): void {
    const upstream = this.#hold.call.upstreams[place] ?? this.upstream;
    if (upstream !== this.upstream) this.#found = undefined;
    this.upstream = upstream;
    this.#asked |= 1 << place;
    const { keys } = this.#state();
    this.#keysLeft = keys.length - 1;
    this.#isChosen = true;
    if (keys.length === 1) {
      this.key = 0;
      return;
    }
    const state = this.#state();
    const first = state.nextKey;
    state.nextKey = (first + 1) % keys.length;
    this.key = first;
    for (let step = 0; step < keys.length; step += 1) {
      const key = (first + step) % keys.length;
      if (keys[key]?.admits(nowMs) !== true) continue;
      this.key = key;
      return;
    }
  }

  /** Goes to the next key of the same pool that can be used. */
  #nextKey(nowMs: number): boolean {
    const { keys } = this.#state();
    while (this.#keysLeft > 0) {
      this.#keysLeft -= 1;
      this.key = (this.key + 1) % keys.length;
      if (keys[this.key]?.admits(nowMs) !== true) continue;
      this.#isChosen = true;
      return true;
    }
    return false;
  }

  #sendInside(gate: Gate, nowMs: number): undefined {
    this.#inside = gate;
    this.#send(nowMs);
  }

  #send(nowMs: number): void {
    const { server, keys } = this.#state();
    this.tries += 1;
    this.#isSent = true;
    this.sentMs = nowMs;
    this.#isServerTest = server.begin(nowMs);
    this.#isKeyTest = keys[this.key]?.begin(nowMs) ?? false;
  }

  /** Counts a failed request as evidence against the server, or against the key. */
  #note(fault: unknown): void {
    const nowMs = this.#clock.nowMs();
    const { server, keys, totals } = this.#state();
    const key = keys[this.key];
    const { kind, status } = fault instanceof UpstreamError ? fault : OURS;
    const { upstream, tries: count, sentMs } = this;
    (this.failedTries ??= []).push({ upstream, count, sentMs, endedMs: nowMs, kind, status });
    const evidence = fault instanceof UpstreamError ? evidenceOf(fault) : 'none';
    if (evidence === 'none' || !(fault instanceof UpstreamError)) {
      totals.others += 1;
      server.withdrawn(this.#isServerTest);
      key?.withdrawn(this.#isKeyTest);
      return;
    }
    if (evidence === 'server') {
      totals.failed += 1;
      if (server.failed(nowMs, this.#isServerTest)) this.#states.tellOpen(this.#state(), fault);
      key?.withdrawn(this.#isKeyTest);
      return;
    }
    if (fault.kind === 'throttled') totals.throttled += 1;
    else totals.failed += 1;
    if (server.succeeded(nowMs, this.#isServerTest)) this.#states.tellClosed(this.#state()); // It responds.
    const retryAfterMs = (fault.retryAfterSeconds ?? 0) * MS_PER_SECOND;
    const hasOpened = key?.failed(nowMs, this.#isKeyTest, { retryAfterMs }) === true;
    if (hasOpened) this.#states.tellOpen(this.#state(), fault, key);
  }

  #leave(): void {
    const gate = this.#inside;
    this.#inside = undefined;
    gate?.leave();
  }

  #state(): UpstreamState {
    return (this.#found ??= this.#states.of(this.upstream));
  }

  #leftMs(nowMs: number): number {
    return (this.#begunMs ?? nowMs) + this.#hold.call.model.timeoutMs - nowMs;
  }
}

interface RouteOptions {
  readonly states: UpstreamStates;
  readonly clock: SteadyClock;
}

/**
 * Returns true if calls should be sent there: the server's breaker and that of a key are closed, or a call is wanted as
 * their test.
 */
export function admits({ server, keys }: UpstreamState, nowMs: number): boolean {
  if (!server.admits(nowMs)) return false;
  for (const key of keys) if (key.admits(nowMs)) return true;
  return false;
}

/** The failure of a request that we ended because nothing came. What came of it otherwise is kept. */
function noFirstByte(thrown: unknown): unknown {
  const isOurs = thrown instanceof UpstreamError && (thrown.kind === 'given-up' || thrown.kind === 'unsent');
  return isOurs ? new UpstreamError('timeout', 'The provider sent no first byte in time.', { cause: thrown }) : thrown;
}
