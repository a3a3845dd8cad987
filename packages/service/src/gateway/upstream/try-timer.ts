import { OwnSignal, type Signal } from '#kernel/work/signal.ts';

/** The signal of a try that must begin in time: aborted with the signal of its call, or when nothing has come after `ms`. */
export class TryTimer extends OwnSignal {
  readonly #call: Signal;
  readonly #follow = (): void => this.abort();
  readonly #timer: NodeJS.Timeout;
  #hasFired = false;

  constructor(call: Signal, ms: number) {
    super();
    this.#call = call;
    if (call.aborted) this.abort();
    call.addEventListener('abort', this.#follow);
    this.#timer = setTimeout(() => {
      this.#hasFired = !this.aborted;
      this.abort();
    }, ms);
  }

  /** Returns true if the request was ended for want of a first byte, and not because the call was given up. */
  hasFired(): boolean {
    return this.#hasFired;
  }

  /** Tells the timer that something has come. Only the call's own signal ends the request now. */
  begun(): void {
    clearTimeout(this.#timer);
  }

  /** The try is over. */
  end(): void {
    clearTimeout(this.#timer);
    this.#call.removeEventListener('abort', this.#follow);
  }
}
