import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { ERROR_STATUS } from '@purser/contract/errors.ts';
import type { SignedIn } from '#accounts/session.ts';
import { refusals } from '#http/refusal-counter.ts';
import type { CookieName, Cookies } from '#web/frame/cookies.ts';
import { type Form, readForm } from '#web/frame/read-form.ts';
import { type Html, html } from '#kernel/html.ts';
import { type Frame, PAGE_HEADERS, type PageNeeds, pageOf, policyOf } from '#web/frame/page-shell.ts';
import { REFUSAL_TEXTS as TEXTS } from '#web/frame/texts.ts';
import type { PageHandlers } from '#http/page-routes.ts';
import type { Exchange } from '#http/respond.ts';
import { equalBytes, hmacSha256, sha256 } from '#kernel/crypto.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { randomBase62 } from '#kernel/random.ts';
import { Refusal, refuse } from '#kernel/refusal.ts';

/** Somebody with a browser. `Who`: what it can be signed in as, an account unless the page is of another kind. */
export interface PageRequest<Who = SignedIn> {
  readonly exchange: Exchange;
  /** The part of the address that the page's path names `:part`; empty where it names none. */
  readonly part: string;
  /** Who this browser is signed in as. */
  readonly signedIn: Who | undefined;
  readonly cookie: (name: CookieName) => string | undefined;
  /** A form of this visitor's alone, which posts to `action`. */
  readonly form: (action: string, fields: Html) => Html;
}

/** What a browser is answered with: a page, or the way to another. */
export interface PageResponse {
  readonly status: number;
  readonly page?: Html;
  /** What the page may do, for its policy. */
  readonly needs?: PageNeeds;
  /** For an answer that is no page: its headers replace those of pages, its text is sent as it is; one in pieces, piece by piece. */
  readonly file?: {
    readonly headers: Readonly<Record<string, string>>;
    readonly text: string | AsyncGenerator<string>;
  };
  readonly location?: string;
  /** As `set-cookie` has them. */
  readonly cookies?: readonly string[];
  readonly retryAfterSeconds?: number;
}

export interface PageMethods<Who = SignedIn> {
  readonly GET?: (request: PageRequest<Who>) => Promise<PageResponse> | PageResponse;
  /** Called only with a form that this service made for this visitor, from a page of its own. */
  readonly POST?: (request: PageRequest<Who>, form: Form) => Promise<PageResponse> | PageResponse;
}

/** A kind of people who sign in: app owners and operators, or those who own wallets. */
export interface Audience<Who> {
  /** What keeps their session in a browser. */
  readonly cookie: CookieName;
  readonly find: (token: string) => Promise<Who | undefined>;
  /** Where their pages begin. */
  readonly home: { readonly path: string; readonly name: string };
  /** What stands around a page that tells of a refusal. */
  readonly frame: Frame;
}

export interface PageHandlerOptions {
  readonly cookies: Cookies;
  /** Forms are signed under it. */
  readonly key: Buffer;
  /** True for an `origin` that is this service's own. */
  readonly isOwnOrigin: (origin: string, host: string | undefined) => boolean;
  readonly log: Log;
  /** How long the reader of a file in pieces may take nothing of it. */
  readonly stallMsMax?: number;
}

const STALL_MS_MAX = 60_000;
const TOKEN_FIELD = 'form';
const FORM_COOKIE = /^[0-9A-Za-z]{43}$/;
const FORM_COOKIE_LENGTH = 43; // 256 bits.

/**
 * The methods of one page as routes of the server: every answer is a page, and no form of another site gets through.
 * `path`: as it was declared, for an address may hold a token.
 */
export function pageHandlers<Who>(
  options: PageHandlerOptions,
  audience: Audience<Who>,
  path: string,
  methods: PageMethods<Who>,
): PageHandlers {
  const handlers = Object.keys(methods).map((method) => [
    method,
    async (exchange: Exchange, part: string) => {
      try {
        const given = await answer(options, audience, methods, exchange, part);
        if (given !== undefined) await send(options, exchange, given);
      } catch (fault) {
        options.log.error(
          { correlationId: exchange.correlationId, path, fault: describeFault(fault) },
          'a page failed',
        );
        await send(options, exchange, refusalPage(audience, failed(), TEXTS.reference(exchange.correlationId)));
      }
    },
  ]);
  return Object.fromEntries(handlers) as PageHandlers;
}

/** Undefined: the caller left halfway. */
async function answer<Who>(
  options: PageHandlerOptions,
  audience: Audience<Who>,
  { GET, POST }: PageMethods<Who>,
  exchange: Exchange,
  part: string,
): Promise<PageResponse | undefined> {
  const { request, path } = exchange;
  const isForm = request.method === 'POST';
  if (isForm && !isFromOurPage(options, exchange)) return refusalPage(audience, foreign());
  const form = isForm ? await readForm(request) : undefined;
  if (form instanceof Refusal) return refusalPage(audience, form);
  if (isForm && form === undefined) return undefined;

  const token = options.cookies.read(request.headers.cookie, audience.cookie);
  const signedIn = token === undefined ? undefined : await audience.find(token);
  const binding = signedIn === undefined ? formCookieOf(options, exchange) : { value: token ?? '', isNew: false };
  const proofOf = (action: string) => hmacSha256(options.key, binding.value, '\n', action);
  if (form !== undefined && !isProof(form.field(TOKEN_FIELD), proofOf(path))) {
    return refusalPage(audience, outOfDate());
  }

  const asked: PageRequest<Who> = {
    exchange,
    part,
    signedIn,
    cookie: (name) => options.cookies.read(request.headers.cookie, name),
    form: (action, fields) => html`<form method="post" action="${action}">
<input type="hidden" name="${TOKEN_FIELD}" value="${proofOf(action).toString('base64url')}">
${fields}
</form>`,
  };
  const given = await (form === undefined ? GET?.(asked) : POST?.(asked, form));
  if (given === undefined || !binding.isNew) return given;
  return { ...given, cookies: [...(given.cookies ?? []), options.cookies.write('form', binding.value)] };
}

/** A browser names the origin of a page with every form that it sends from there. */
function isFromOurPage({ isOwnOrigin }: PageHandlerOptions, { request: { headers } }: Exchange): boolean {
  return headers.origin !== undefined && isOwnOrigin(headers.origin, headers.host);
}

/** What forms of somebody who is not signed in are bound to: a random value that only this browser has. */
function formCookieOf({ cookies }: PageHandlerOptions, { request }: Exchange) {
  const kept = cookies.read(request.headers.cookie, 'form');
  const isKept = kept !== undefined && FORM_COOKIE.test(kept);
  return isKept ? { value: kept, isNew: false } : { value: randomBase62(FORM_COOKIE_LENGTH), isNew: true };
}

function isProof(shown: string, proof: Buffer): boolean {
  return equalBytes(sha256(shown), sha256(proof.toString('base64url')));
}

/** A refusal as a page of its own: where no form can be shown again. */
function refusalPage(
  { home, frame }: Pick<Audience<unknown>, 'home' | 'frame'>,
  refusal: Refusal,
  reference?: string,
): PageResponse {
  const title = ERROR_STATUS[refusal.code] < 500 ? TEXTS.refusedTitle : TEXTS.failedTitle;
  const body = html`<div class="card">
<p role="alert">${refusal.message}</p>
${reference === undefined ? undefined : html`<p class="soft">${reference}</p>`}
<p><a href="${home.path}">${home.name}</a></p>
</div>`;
  return refusedBy(refusal, pageOf({ title, body, frame, isError: true }));
}

/** A page that tells of a refusal, with the status of it. */
export function refusedBy({ code, detail }: Refusal, page: Html): PageResponse {
  refusals.of({ code }).add();
  const { retryAfterSeconds } = detail;
  return { status: ERROR_STATUS[code], page, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
}

/** The way to another page, which is got, not posted to. */
export function redirectTo(location: string, cookies: readonly string[] = []): PageResponse {
  return { status: 303, location, cookies };
}

/** Of an address that only takes a form, when somebody goes there. */
export function toAccount(): PageResponse {
  return redirectTo('/account');
}

async function send(
  { stallMsMax = STALL_MS_MAX }: PageHandlerOptions,
  { request, response }: Exchange,
  answered: PageResponse,
): Promise<void> {
  const { status, page, file, location, cookies = [], needs = {}, retryAfterSeconds } = answered;
  if (response.headersSent || response.destroyed) return;
  response.statusCode = status;
  response.setHeader('content-security-policy', policyOf(needs));
  for (const [name, value] of Object.entries({ ...PAGE_HEADERS, ...file?.headers })) response.setHeader(name, value);
  if (cookies.length > 0) response.setHeader('set-cookie', cookies);
  if (location !== undefined) response.setHeader('location', location);
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', String(retryAfterSeconds));
  if (!request.complete) response.setHeader('connection', 'close'); // As in `sendRefusal`.
  const text = file?.text ?? page?.text ?? '';
  if (typeof text !== 'string') {
    response.setTimeout(stallMsMax, () => response.destroy());
    return sendPieces(response, request.method === 'HEAD' ? [] : text);
  }
  response.setHeader('content-length', Buffer.byteLength(text));
  response.end(text);
}

/** As fast as they are taken. A fault cuts the answer off, so that nobody takes it for whole; a caller may leave. */
async function sendPieces(response: ServerResponse, pieces: AsyncIterable<string> | Iterable<string>): Promise<void> {
  await pipeline(pieces, response).catch((fault: unknown) => {
    const hasLeft = fault instanceof Error && 'code' in fault && fault.code === 'ERR_STREAM_PREMATURE_CLOSE';
    if (!hasLeft) throw fault;
  });
}

function failed(): Refusal<'INTERNAL_SERVER_ERROR'> {
  return refuse('INTERNAL_SERVER_ERROR', TEXTS.failed);
}

function foreign(): Refusal<'FORBIDDEN'> {
  return refuse('FORBIDDEN', TEXTS.foreign);
}

function outOfDate(): Refusal<'FORBIDDEN'> {
  return refuse('FORBIDDEN', TEXTS.outOfDate);
}
