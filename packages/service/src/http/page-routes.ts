import type { Exchange } from '#http/respond.ts';

/** A page for a method. `part`: what `:part` stands for in the address. */
type PageHandler = (exchange: Exchange, part: string) => Promise<void>;
export type PageHandlers = Readonly<Record<string, PageHandler>>;

/** The handlers of a page, by method, and what `:part` stands for in the address. */
interface FoundPage {
  readonly handlers: PageHandlers;
  readonly part: string;
}

/** All pages, by address. */
export type PageRoutes = (path: string) => FoundPage | undefined;
