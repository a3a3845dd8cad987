import type { Exchange } from '#http/answers/respond.ts';

/** Serves a page for one method. `part` is the text in the place of `:part` in the address. */
type PageHandler = (exchange: Exchange, part: string) => Promise<void>;
export type PageHandlers = Readonly<Record<string, PageHandler>>;

/** The handlers of a page by method, with the `:part` of the address. */
interface FoundPage {
  readonly handlers: PageHandlers;
  readonly part: string;
}

/** Finds the page at an address; undefined if there is none. `web/` implements it, so that `http` knows no page. */
export type PageRoutes = (path: string) => FoundPage | undefined;
