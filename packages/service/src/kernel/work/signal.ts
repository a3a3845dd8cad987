/** Tells whether something has ended, and notifies listeners once when it does. Every `AbortSignal` is one. */
export interface Signal {
  readonly aborted: boolean;
  readonly addEventListener: (type: 'abort', listener: () => void) => void;
  readonly removeEventListener: (type: 'abort', listener: () => void) => void;
}

/**
 * A signal that its owner aborts, like an `AbortController` and its signal in one. It costs a tenth as much to make, which
 * matters because every call has two.
 */
export class OwnSignal implements Signal {
  aborted = false;
  #listeners: Set<() => void> | undefined;

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners?.delete(listener);
  }

  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    for (const listener of this.#listeners ?? []) listener();
  }
}
