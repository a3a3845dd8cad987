import type { Clock } from '#kernel/clock.ts';
import { deriveKey, seal, sha256, unseal } from '#kernel/crypto.ts';
import { type AppId, type EndUserId, parseEndUserId } from '#kernel/ids.ts';
import { type Micros, micros } from '#kernel/micros.ts';

/** BI-04: fifteen minutes. */
const LIFETIME_SECONDS = 15 * 60;
const EXPIRY_BYTES = 4;
const SECONDS_PER_KEY = 60 * 60;
/** By how much the clock of the process that issued a link may be ahead. */
const CLOCKS_APART_SECONDS = 120;
/** How long after its expiry a connect link still leads its owner back to the app: a payment takes its time. */
const WAY_BACK_SECONDS = 2 * 60 * 60;
/** How long after its expiry what was made anew of a link may last: waiting for a mail must not use it up. */
const RENEWED_SECONDS = 30 * 60;
/** The longest that can be asked for fits: see the test. */
const SHAPE = /^[A-Za-z0-9_-]{44,4096}$/;
const PLACEHOLDER = 'sandbox';
const REDIRECT_NAME_BYTES = 16;

/** One (app, end user), and what was asked for on their behalf. */
interface LinkSubject {
  readonly appId: AppId;
  readonly userId: EndUserId;
}

/** Where a link to the top-up page leads first: to paying, or, where the cap is what refused the call, to the cap. */
interface TopupLink extends LinkSubject {
  readonly purpose: 'topup' | 'cap';
  /** The smallest hold of the call that was refused; undefined where none was. */
  readonly least: Micros | undefined;
}

interface ConnectLink extends LinkSubject {
  readonly purpose: 'connect';
  /** Which address of the app's allow-list it leads back to, see `redirectName`. */
  readonly redirect: string;
  readonly state: string | undefined;
  /** By what the app lets the person recognise the account. */
  readonly userLabel: string | undefined;
}

/** A link that is in force. */
export type Link = (TopupLink | ConnectLink) & {
  readonly expiresAtMs: number;
  /** Names this link among all: each is made with a random part. What is made anew of it bears the same: one payment spends all. */
  readonly digest: Buffer;
  /** Until when it may last, however often it is made anew. */
  readonly endsAtMs: number;
};

/** Signed links to the hosted pages, one purpose and one (app, user) each. Issuing one writes nothing (BI-04). */
export interface Links {
  readonly topup: (subject: LinkSubject, least?: Micros) => string;
  /** The same page for a call that the monthly cap refused: it leads to the cap first (WA-03). */
  readonly cap: (subject: LinkSubject, least?: Micros) => string;
  readonly connect: (link: Omit<ConnectLink, 'purpose'>) => { readonly url: string; readonly expiresAtMs: number };
  /** The path of a link that says the same and has fifteen minutes again, up to its end. */
  readonly renew: (link: Link) => string;
  /** What a token of a page's address says; undefined for one that is forged, altered, expired or another page's. */
  readonly read: (page: 'topup' | 'connect', token: string) => Link | undefined;
  /**
   * The same for a connect link that expired two hours ago at most. Enough to lead its owner back to where he came from, once
   * he has paid; never enough to connect, to pay or to show anything.
   */
  readonly readPast: (token: string) => Link | undefined;
  /** The addresses without a token, for play money: they lead to no payment (SB-06, SB-09). */
  readonly placeholders: { readonly topup: string; readonly connect: string };
}

/**
 * Names an address in a link without holding it: whoever leads somebody back looks it up in the app's allow-list, so that one
 * which was taken off the list meanwhile is no way back (BI-02). A link stays short, too.
 */
export function redirectName(redirectUri: string): string {
  return sha256(redirectUri).subarray(0, REDIRECT_NAME_BYTES).toString('base64url');
}

/** Purpose, app, user, and the rest by purpose. Only this file writes and seals them, so what it opens has these types. */
type Claims = readonly [string, AppId, string, ...(string | null)[]];

/**
 * A token is its expiry and its sealed claims, so that nobody reads in an address who it is for or where it leads. It looks
 * the same whether a wallet exists or not. The key is another every hour: no key seals more than its nonces bear.
 */
export function createLinks(options: {
  readonly secret: Buffer;
  readonly publicUrl: string;
  readonly clock: Clock;
}): Links {
  const { secret, publicUrl, clock } = options;
  let latest: { readonly name: string; readonly key: Buffer } | undefined;

  function keyOf(page: string, expiry: number): Buffer {
    const name = `link ${page} ${Math.floor(expiry / SECONDS_PER_KEY)}`;
    if (latest?.name !== name) latest = { name, key: deriveKey(secret, name) };
    return latest.key;
  }

  function issue(page: 'topup' | 'connect', claims: Claims, end = Infinity) {
    const expiry = Math.min(Math.floor(clock.nowMs() / 1_000) + LIFETIME_SECONDS, end);
    const head = Buffer.alloc(EXPIRY_BYTES);
    head.writeUInt32BE(expiry);
    const sealed = seal(keyOf(page, expiry), head, JSON.stringify(claims));
    const token = Buffer.concat([head, sealed]).toString('base64url');
    return { url: `${publicUrl}/${page}/${token}`, expiresAtMs: expiry * 1_000 };
  }

  function read(page: 'topup' | 'connect', token: string, graceSeconds: number): Link | undefined {
    const bytes = SHAPE.test(token) ? Buffer.from(token, 'base64url') : undefined;
    if (bytes?.toString('base64url') !== token) return undefined; // Some characters stand for the same bytes.
    const head = bytes.subarray(0, EXPIRY_BYTES);
    const expiry = head.readUInt32BE();
    const nowSeconds = Math.floor(clock.nowMs() / 1_000);
    if (expiry + graceSeconds <= nowSeconds) return undefined;
    if (expiry > nowSeconds + LIFETIME_SECONDS + CLOCKS_APART_SECONDS) return undefined;
    const text = opened(keyOf(page, expiry), head, bytes.subarray(EXPIRY_BYTES));
    if (text === undefined) return undefined;
    const own = { expiresAtMs: expiry * 1_000, endsAtMs: (expiry + RENEWED_SECONDS) * 1_000, digest: sha256(token) };
    return linkOf(JSON.parse(text) as Claims, own); // Written by us, above.
  }

  function renew(link: Link): string {
    const { digest, endsAtMs } = link;
    const isConnect = link.purpose === 'connect';
    const said = isConnect ? connectClaims(link) : topupClaims(link.purpose, link, link.least);
    const claims: Claims = [...said, digest.toString('base64url'), String(endsAtMs)];
    return new URL(issue(isConnect ? 'connect' : 'topup', claims, endsAtMs / 1_000).url).pathname;
  }

  return {
    topup: (subject, least) => issue('topup', topupClaims('topup', subject, least)).url,
    cap: (subject, least) => issue('topup', topupClaims('cap', subject, least)).url,
    connect: (link) => issue('connect', connectClaims(link)),
    renew,
    read: (page, token) => read(page, token, 0),
    readPast: (token) => read('connect', token, WAY_BACK_SECONDS),
    placeholders: { topup: `${publicUrl}/topup/${PLACEHOLDER}`, connect: `${publicUrl}/connect/${PLACEHOLDER}` },
  };
}

function topupClaims(purpose: 'topup' | 'cap', { appId, userId }: LinkSubject, least: Micros | undefined): Claims {
  return [purpose, appId, userId, least === undefined ? null : String(least)];
}

function connectClaims({ appId, userId, redirect, state, userLabel }: Omit<ConnectLink, 'purpose'>): Claims {
  return ['connect', appId, userId, redirect, state ?? null, userLabel ?? null];
}

function opened(key: Buffer, head: Buffer, sealed: Buffer): string | undefined {
  try {
    return unseal(key, head, sealed);
  } catch {
    return undefined; // Not sealed by us, or not as it was.
  }
}

type Validity = Pick<Link, 'expiresAtMs' | 'digest' | 'endsAtMs'>;

function linkOf(claims: Claims, own: Validity): Link | undefined {
  const [purpose, appId, user, first] = claims;
  const userId = parseEndUserId(user);
  if (userId === undefined) return undefined;
  const common = { appId, userId };
  if (purpose === 'topup' || purpose === 'cap') {
    const least = typeof first === 'string' ? micros(BigInt(first)) : undefined;
    return { ...common, ...validityOf(claims.slice(4), own), purpose, least };
  }
  if (purpose !== 'connect' || typeof first !== 'string') return undefined;
  const [state, userLabel, ...renewed] = claims.slice(4);
  const validity = validityOf(renewed, own);
  return {
    ...common,
    ...validity,
    purpose,
    redirect: first,
    state: state ?? undefined,
    userLabel: userLabel ?? undefined,
  };
}

/** Of a link that was made anew, the name and the end are those of the first. */
function validityOf([digest, endsAtMs]: readonly (string | null)[], own: Validity): Validity {
  if (typeof digest !== 'string') return own;
  return { ...own, digest: Buffer.from(digest, 'base64url'), endsAtMs: Number(endsAtMs) };
}
