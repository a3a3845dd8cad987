import type { Clock } from '#kernel/time/clock.ts';
import { seal, sha256 } from '#kernel/crypto/crypto.ts';
import { type AppId, type EndUserId, parseEndUserId } from '#kernel/values/ids.ts';
import { type Keys, type ProofKeys, unsealAny } from '#kernel/crypto/keys.ts';
import { type Micros, micros } from '#kernel/values/micros.ts';

/** How long a link works (BI-04). */
const LIFETIME_SECONDS = 15 * 60;
const EXPIRY_BYTES = 4;
const SECONDS_PER_KEY = 60 * 60;
/** How far the clock of the issuing process may be ahead of ours. A link from further in the future is refused. */
const CLOCKS_APART_SECONDS = 120;
/** How long an expired connect link still leads its owner back to the app, because paying takes time. */
const WAY_BACK_SECONDS = 2 * 60 * 60;
/** How long renewed links may outlive the first link's expiry, so that waiting for a mail does not use up the link. */
const RENEWED_SECONDS = 30 * 60;
/** The longest token that can be issued fits into this; a test checks it. */
const SHAPE = /^[A-Za-z0-9_-]{44,4096}$/;
const PLACEHOLDER = 'sandbox';
const REDIRECT_NAME_BYTES = 16;

/** The (app, end user) that a link is for. */
interface LinkSubject {
  readonly appId: AppId;
  readonly userId: EndUserId;
}

/** A link to the top-up page. It opens on paying, or on the cap when the cap is what refused the call. */
interface TopupLink extends LinkSubject {
  readonly purpose: 'topup' | 'cap';
  /** The smallest hold of the refused call, so that the page can offer enough. Undefined when no call was refused. */
  readonly least: Micros | undefined;
}

interface ConnectLink extends LinkSubject {
  readonly purpose: 'connect';
  /** Names the address in the app's allow-list that it leads back to, see `redirectName`. */
  readonly redirect: string;
  readonly state: string | undefined;
  /** The app's own name for the account, by which the person recognises it. */
  readonly userLabel: string | undefined;
}

/** A link that was read from an address and is valid. */
export type Link = (TopupLink | ConnectLink) & {
  readonly expiresAtMs: number;
  /**
   * Identifies the link: every token has a random part. Renewed links keep the digest of the first, so that one payment uses
   * up all of them.
   */
  readonly digest: Buffer;
  /** The latest time to which it can be renewed. */
  readonly endsAtMs: number;
};

/** Signed links to the hosted pages, each for one purpose and one (app, user). Issuing a link writes nothing (BI-04). */
export interface Links {
  readonly topup: (subject: LinkSubject, least?: Micros) => string;
  /** A link to the same page for a call that the monthly cap refused. It opens on the cap (WA-03). */
  readonly cap: (subject: LinkSubject, least?: Micros) => string;
  readonly connect: (link: Omit<ConnectLink, 'purpose'>) => { readonly url: string; readonly expiresAtMs: number };
  /** Renews a link: the path of one that says the same and has fifteen minutes again, but not past `endsAtMs`. */
  readonly renew: (link: Link) => string;
  /** Reads the token of a page's address. Undefined when it is forged, altered, expired or meant for another page. */
  readonly read: (page: 'topup' | 'connect', token: string) => Link | undefined;
  /**
   * Reads a connect link that expired at most two hours ago. Enough to lead people back to the app after they have paid;
   * never enough to connect, to pay or to show anything.
   */
  readonly readPast: (token: string) => Link | undefined;
  /** Addresses without a real token, for the sandbox: they lead to no payment (SB-06, SB-09). */
  readonly placeholders: { readonly topup: string; readonly connect: string };
}

/** When the link was made; for a renewed one, when the first was. */
export function beganAtMs({ endsAtMs }: Pick<Link, 'endsAtMs'>): number {
  return endsAtMs - (RENEWED_SECONDS + LIFETIME_SECONDS) * 1_000;
}

/**
 * Names a redirect address in a link without containing it. The page looks the name up in the app's allow-list, so an
 * address that was removed from the list meanwhile no longer works (BI-02). It also keeps links short.
 */
export function redirectName(redirectUri: string): string {
  return sha256(redirectUri).subarray(0, REDIRECT_NAME_BYTES).toString('base64url');
}

/**
 * Claims are the purpose, the app, the user, and the rest by purpose. They are a list instead of an object, because
 * field names would make every link longer. Only this file writes and seals claims, so what it opens has these types.
 */
type Claims = readonly [string, AppId, string, ...(string | null)[]];

/**
 * A token is its expiry, in clear, and its sealed claims, so that an address does not reveal whom it is for or where it
 * leads. It looks the same whether or not a wallet exists. The key changes every hour of expiry, so that no key ever seals
 * more texts than random nonces allow.
 */
export function createLinks(options: {
  readonly keysOf: Keys['proof'];
  readonly publicUrl: string;
  readonly clock: Clock;
}): Links {
  const { publicUrl, clock } = options;
  let latest: { readonly name: string; readonly keys: ProofKeys } | undefined;

  // The page is part of the key's name, so a token of one page cannot be opened on another. The latest key is remembered:
  // almost all links of an hour use it, and deriving one costs several hashes.
  function keysOf(page: string, expiry: number): ProofKeys {
    const name = `link ${page} ${Math.floor(expiry / SECONDS_PER_KEY)}`;
    if (latest?.name !== name) latest = { name, keys: options.keysOf(name) };
    return latest.keys;
  }

  function issue(page: 'topup' | 'connect', claims: Claims, end = Infinity) {
    const expiry = Math.min(Math.floor(clock.nowMs() / 1_000) + LIFETIME_SECONDS, end);
    const head = Buffer.alloc(EXPIRY_BYTES);
    head.writeUInt32BE(expiry);
    const sealed = seal(keysOf(page, expiry)[0], head, JSON.stringify(claims));
    const token = Buffer.concat([head, sealed]).toString('base64url');
    return { url: `${publicUrl}/${page}/${token}`, expiresAtMs: expiry * 1_000 };
  }

  function read(page: 'topup' | 'connect', token: string, graceSeconds: number): Link | undefined {
    const bytes = SHAPE.test(token) ? Buffer.from(token, 'base64url') : undefined;
    // Different texts can decode to the same bytes, because the last character has unused bits. Only one text is valid, or
    // the digest of one link would have several values.
    if (bytes?.toString('base64url') !== token) return undefined;
    const head = bytes.subarray(0, EXPIRY_BYTES);
    const expiry = head.readUInt32BE();
    const nowSeconds = Math.floor(clock.nowMs() / 1_000);
    if (expiry + graceSeconds <= nowSeconds) return undefined;
    if (expiry > nowSeconds + LIFETIME_SECONDS + CLOCKS_APART_SECONDS) return undefined;
    const text = unsealAny(keysOf(page, expiry), head, bytes.subarray(EXPIRY_BYTES));
    if (text === undefined) return undefined;
    const own = { expiresAtMs: expiry * 1_000, endsAtMs: (expiry + RENEWED_SECONDS) * 1_000, digest: sha256(token) };
    return linkOf(JSON.parse(text) as Claims, own); // Sealed by `issue`, so the shape can be trusted.
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

type Validity = Pick<Link, 'expiresAtMs' | 'digest' | 'endsAtMs'>;

/** Claims were sealed by us, but perhaps by another version. So a shape that does not fit makes no link, and no fault. */
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

/** A renewed link carries the digest and the end of the first one in its claims. */
function validityOf([digest, endsAtMs]: readonly (string | null)[], own: Validity): Validity {
  if (typeof digest !== 'string') return own;
  return { ...own, digest: Buffer.from(digest, 'base64url'), endsAtMs: Number(endsAtMs) };
}
