/** The part of an `AbortSignal` that a request needs. Callers may hand in a cheaper object with the same shape. */
export interface Signal {
  readonly aborted: boolean;
  readonly addEventListener: (type: 'abort', listener: () => void) => void;
  readonly removeEventListener: (type: 'abort', listener: () => void) => void;
}
