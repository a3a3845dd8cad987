import type { SignedIn } from '#developers/sessions/session.ts';
import type { Exchange } from '#http/answers/respond.ts';
import type { Html } from '#kernel/text/html.ts';
import type { Formats } from '#web/format/formats.ts';
import type { CookieName } from '#web/frame/cookies.ts';
import type { PageNeeds } from '#web/assets/page-policy.ts';
import { type Frame } from '#web/frame/page-shell.ts';
import type { Form } from '#web/forms/read-form.ts';

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
