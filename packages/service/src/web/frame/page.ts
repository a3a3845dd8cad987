import { ERROR_STATUS } from '@purser/contract/errors.ts';
import type { SignedIn } from '#developers/sessions/session.ts';
import type { Exchange } from '#http/answers/respond.ts';
import { type Html, html } from '#kernel/text/html.ts';
import type { Formats } from '#web/format/formats.ts';
import type { CookieName } from '#web/frame/cookies.ts';
import type { PageNeeds } from '#web/assets/page-policy.ts';
import { type Frame, pageOf } from '#web/frame/page-shell.ts';
import type { Form } from '#web/forms/form.ts';
import { FAULT_RETRY_SECONDS } from '#http/answers/envelope.ts';
import { refusals } from '#http/answers/refusal-counter.ts';
import type { Refusal } from '#kernel/faults/refusal.ts';
import { card, linkLine } from '#web/components/parts.ts';
import { REFUSAL_TEXTS as TEXTS } from '#web/frame/texts.ts';

/** One request for a page. `Who`: what a browser can be signed in as; the account of an app owner or operator by default. */
export interface PageRequest<Who = SignedIn> {
  readonly exchange: Exchange;
  /** What stands for `:part` in the page's path. Empty for a path without one. */
  readonly part: string;
  readonly query: URLSearchParams;
  /** How this reader's language writes amounts and moments. */
  readonly formats: Formats;
  /** Who this browser is signed in as. */
  readonly signedIn: Who | undefined;
  readonly cookie: (name: CookieName) => string | undefined;
  /** A form that posts to `action` and works for this visitor alone. The only way to make one. */
  readonly form: (action: string, fields: Html, options?: { readonly hasFile: boolean }) => Html;
}

/** The answer to it: a page, a file, or the way to another page. */
export interface PageResponse {
  readonly status: number;
  readonly page?: Html;
  /** What the page may do beyond being read. It becomes the content security policy. */
  readonly needs?: PageNeeds;
  /**
   * The file that is sent in place of a page, with headers that replace those of pages. A generator is sent piece by
   * piece, as the reader takes them.
   */
  readonly file?: {
    readonly headers: Readonly<Record<string, string>>;
    readonly text: string | AsyncGenerator<string>;
  };
  readonly location?: string;
  /** Values of `set-cookie`, as `Cookies.write` makes them. */
  readonly cookies?: readonly string[];
  readonly retryAfterSeconds?: number;
}

/** What a path does for each method. A method that is left out is answered with 405. */
export interface PageMethods<Who = SignedIn, Request = PageRequest<Who>> {
  readonly GET?: (request: Request) => Promise<PageResponse> | PageResponse;
  /** Is called only with a form that this service made for this visitor, sent from a page of this service (PG-02). */
  readonly POST?: (request: Request, form: Form) => Promise<PageResponse> | PageResponse;
  /** It is the same small file for everybody, such as an icon, and may be asked for at any pace. */
  readonly isForAll?: true;
  /** The most bytes that the form of a signed-in visitor may have, for pages that take files. Others take 16 KiB. */
  readonly formBytesMax?: (who: Who, path: string) => number | undefined;
}

/** The people that a set of pages is for: app owners and operators, or wallet owners. They sign in apart from each other. */
export interface Audience<Who> {
  /** The cookie with their session. */
  readonly cookie: CookieName;
  readonly find: (token: string) => Promise<Who | undefined>;
  /** Whom their requests count for. */
  readonly nameOf: (who: Who) => string;
  /** Where their pages begin. */
  readonly home: { readonly path: string; readonly name: string };
  /** The frame of pages that say no: those have no page of their own to take it from. */
  readonly frame: Frame;
}

/** A page. With a refusal, the page must show its message: the answer has its status, and the refusal is counted. */
export function showPage(page: Html, refusal?: Refusal): PageResponse {
  return refusal === undefined ? { status: 200, page } : refusedBy(refusal, page);
}

/** A page that shows a refusal, with the refusal's status. */
export function refusedBy({ code, detail }: Refusal, page: Html): PageResponse {
  refusals.of({ code }).add();
  const status = ERROR_STATUS[code];
  const { retryAfterSeconds = status === 500 ? FAULT_RETRY_SECONDS : undefined } = detail;
  return { status, page, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
}

/** The way to another page. 303: the browser gets it with GET, even after a POST, so that reloading sends no form twice. */
export function redirectTo(location: string, cookies: readonly string[] = []): PageResponse {
  return { status: 303, location, cookies };
}

/** A refusal as a page of its own, when there is no form that could be shown again. */
export function refusalPage(
  { home, frame }: Pick<Audience<unknown>, 'home' | 'frame'>,
  refusal: Refusal,
  reference?: string,
): PageResponse {
  const title = ERROR_STATUS[refusal.code] < 500 ? TEXTS.refusedTitle : TEXTS.failedTitle;
  const body = card(
    html`<p role="alert">${refusal.message}</p>`,
    reference === undefined ? undefined : html`<p class="soft">${reference}</p>`,
    linkLine(home.path, home.name),
  );
  return refusedBy(refusal, pageOf({ title, body, frame, isError: true }));
}

/** One request for a page, with what the page acts on. */
export type ActingRequest<Who, Services> = PageRequest<Who> & { readonly services: Services };

/** The pages, each of which gets `services` with its request. */
export function actingOn<Who, Services>(
  services: Services,
  pages: Readonly<Record<string, PageMethods<Who, ActingRequest<Who, Services>>>>,
): Readonly<Record<string, PageMethods<Who>>> {
  const bound = ({ GET, POST, ...others }: PageMethods<Who, ActingRequest<Who, Services>>): PageMethods<Who> => ({
    ...others,
    ...(GET === undefined ? {} : { GET: (request) => GET({ ...request, services }) }),
    ...(POST === undefined ? {} : { POST: (request, form) => POST({ ...request, services }, form) }),
  });
  return Object.fromEntries(Object.entries(pages).map(([path, methods]) => [path, bound(methods)]));
}
