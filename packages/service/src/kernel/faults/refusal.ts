import type { ErrorCode } from '@purser/contract/errors.ts';

interface RefusalDetail {
  /** A finer `error.type` than that of the code. Callers of the compatible format can tell failures apart by it (ER-07). */
  readonly type?: string;
  /** The field at fault, as `error.param`. */
  readonly param?: string;
  /** The page where the end user can fix it, by paying or raising the cap (402 only). */
  readonly topupUrl?: string;
  /** Whole seconds after which a retry makes sense (429, and 409 while another attempt runs); 1 to 60. */
  readonly retryAfterSeconds?: number;
  /** The same in milliseconds, when it is known that precisely. */
  readonly retryAfterMs?: number;
}

/**
 * An expected "no" with its code. It is returned, never thrown, so that a function's signature lists every code it may
 * answer with. `message` reaches the caller: it says what was sent and what to do, and reveals nothing internal (ER-03).
 */
export class Refusal<Code extends ErrorCode = ErrorCode> {
  declare protected readonly nominal: true; // Keeps objects of the same shape from passing as refusals.
  readonly code: Code;
  readonly message: string;
  readonly detail: RefusalDetail;

  constructor(code: Code, message: string, detail: RefusalDetail = {}) {
    this.code = code;
    this.message = message;
    this.detail = detail;
  }
}

/** Makes a refusal. Shorter than `new Refusal(...)`, and it infers the code as a literal type. */
export function refuse<Code extends ErrorCode>(code: Code, message: string, detail: RefusalDetail = {}): Refusal<Code> {
  return new Refusal(code, message, detail);
}
