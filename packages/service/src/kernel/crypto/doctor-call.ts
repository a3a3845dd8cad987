import type { ProofKeys } from '#kernel/crypto/keys.ts';
import { createSignedNames } from '#kernel/crypto/signed-name.ts';

/** The header by which the doctor of a service makes itself known to `/healthz`. */
export const DOCTOR_HEADER = 'x-purser-doctor';
const LIFETIME_MS = 60_000;
const SHAPE = /^(\d{13})\.(.+)$/;

/** What a gateway saw of a request of the doctor. */
export interface SeenRequest {
  /** Where the gateway takes the caller to be, after `PURSER_PROXY_HOPS`. */
  readonly address: string;
  /** The entries of `x-forwarded-for`, as they arrived. */
  readonly forwardedFor: readonly string[];
  readonly forwardedProto: string | undefined;
  readonly host: string | undefined;
  /** Names the database behind the gateway. A copy of it has another name. Undefined if it does not answer. */
  readonly database: string | undefined;
}

/** A value for the header, good for a minute. Only a process with the same secret can make it. */
export function newDoctorToken(keys: ProofKeys, nowMs: number): string {
  const untilMs = String(nowMs + LIFETIME_MS);
  return `${untilMs}.${createSignedNames(keys).issue(untilMs)}`;
}

/** Whether the value was made by a process with the same secret, within the last minute. */
export function isDoctorToken(shown: string | undefined, keys: ProofKeys, nowMs: number): boolean {
  const [, untilMs = '', name] = SHAPE.exec(shown ?? '') ?? [];
  if (name === undefined || Number(untilMs) < nowMs || Number(untilMs) > nowMs + 2 * LIFETIME_MS) return false;
  return createSignedNames(keys).nameOf(name, untilMs) !== undefined;
}
