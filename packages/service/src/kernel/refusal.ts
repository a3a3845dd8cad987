import type { ErrorCode } from '@purser/contract/errors.ts';

interface RefusalDetail {
  /** The field at fault, as `error.param`. */
  readonly param?: string;
  /** Where the end user can mend it (402 only). */
  readonly topupUrl?: string;
  /** Whole seconds after which a retry makes sense (429, and 409 while another attempt runs); 1 to 60. */
  readonly retryAfterSeconds?: number;
  /** The same to the millisecond, where it is known. */
  readonly retryAfterMs?: number;
}

/**
 * An expected "no" with its code: returned, never thrown, so that a signature lists every code a step may answer.
 * `message` reaches the caller: it says what was sent and what to do, and holds nothing internal (ER-03).
 */
export class Refusal<Code extends ErrorCode = ErrorCode> {
  declare protected readonly nominal: true; // Keeps look-alikes from passing as refusals.
  readonly code: Code;
  readonly message: string;
  readonly detail: RefusalDetail;

  constructor(code: Code, message: string, detail: RefusalDetail = {}) {
    this.code = code;
    this.message = message;
    this.detail = detail;
  }
}

export function refuse<Code extends ErrorCode>(code: Code, message: string, detail: RefusalDetail = {}): Refusal<Code> {
  return new Refusal(code, message, detail);
}
