import type { Html } from '#kernel/text/html.ts';
import { hiddenField } from '#web/fields/fields.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';
import { ARRIVE, FROM_CELL, HAND_OVER } from '#web/wallet-owner/other-cells.ts';

const WALLET = '/wallet';
export const SIGN_IN = '/wallet/sign-in';
/** Where the link of a mailed way in leads, see `people/way-in.ts`. */
export const SIGN_IN_OWN = '/wallet/sign-in/own';
export const CODE = '/wallet/code';
export const SIGN_OUT = '/wallet/sign-out';
export const PASSKEYS = '/wallet/passkeys';
export const DATA = '/wallet/data';

/**
 * The pages that signing in may lead back to. The path comes from an address that anybody can write: without this list, a link to
 * our sign-in could lead on to any site (an open redirect), under our name.
 */
const SHAPES = [
  /^\/wallet(\/[A-Za-z0-9_-]{1,64}){0,2}$/,
  /^\/(topup|connect)\/[A-Za-z0-9_-]{1,4096}$/,
  /^\/checkout\/[A-Za-z0-9_-]{1,64}$/,
];
/** These addresses would lead in a circle. */
const NEVER: ReadonlySet<string> = new Set([SIGN_IN, SIGN_IN_OWN, CODE, SIGN_OUT, FROM_CELL, HAND_OVER, ARRIVE]);

/** The page to go on to: this path if it is one of ours, or else the wallet. */
export function returnPathOf(path: string | null): string {
  const isOurs = path !== null && SHAPES.some((shape) => shape.test(path)) && !NEVER.has(path);
  return isOurs ? path : WALLET;
}

/** The field in which the forms of signing in and out carry the return path. */
export const NEXT_FIELD = 'next';

export function nextField(next: string): Html {
  return hiddenField(NEXT_FIELD, next);
}

/** The way to the sign-in, and back to this path afterwards. */
export function toSignIn(then: string): PageResponse {
  return redirectTo(withReturnPath(SIGN_IN, then));
}

/** The address of `page`, with the path to go on to. */
export function withReturnPath(page: string, then: string): string {
  return then === WALLET ? page : `${page}?then=${encodeURIComponent(then)}`;
}
