import { type Html, html } from '#kernel/html.ts';
import { type PageResponse, redirectTo } from '#web/frame/page-handlers.ts';

const WALLET = '/wallet';
export const SIGN_IN = '/wallet/sign-in';
export const CODE = '/wallet/code';
export const SIGN_OUT = '/wallet/sign-out';
export const PASSKEYS = '/wallet/passkeys';

/** Pages that somebody may be led back to once he is signed in. What is no path of these shapes leads elsewhere, perhaps. */
const SHAPES = [
  /^\/wallet(\/[A-Za-z0-9_-]{1,64}){0,2}$/,
  /^\/(topup|connect)\/[A-Za-z0-9_-]{1,4096}$/,
  /^\/checkout\/[A-Za-z0-9_-]{1,64}$/,
];
/** They would lead in a circle. */
const NEVER: ReadonlySet<string> = new Set([SIGN_IN, CODE, SIGN_OUT]);

/** Where to go on: this path where it is one of ours, else the wallet. */
export function returnPathOf(path: string | null): string {
  const isOurs = path !== null && SHAPES.some((shape) => shape.test(path)) && !NEVER.has(path);
  return isOurs ? path : WALLET;
}

/** In the forms of signing in and out: where to go on. */
export const NEXT_FIELD = 'next';

export function nextField(next: string): Html {
  return html`<input type="hidden" name="${NEXT_FIELD}" value="${next}">`;
}

/** The way to the sign-in, and back to this path from there. */
export function toSignIn(then: string): PageResponse {
  return redirectTo(withReturnPath(SIGN_IN, then));
}

/** `page` with where to go on from it. */
export function withReturnPath(page: string, then: string): string {
  return then === WALLET ? page : `${page}?then=${encodeURIComponent(then)}`;
}
