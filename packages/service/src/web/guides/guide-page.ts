import { type Html, html } from '#kernel/text/html.ts';
import type { Refusal } from '#kernel/faults/refusal.ts';
import { breadcrumbs, linkLine } from '#web/components/parts.ts';
import { CONSOLE_SCRIPT } from '#web/assets/console-script.ts';
import { consoleDocument, ownerHeader } from '#web/frame/owner-page.ts';
import type { PageRequest, PageResponse } from '#web/frame/page.ts';
import { brandOf, type Frame } from '#web/frame/page-shell.ts';
import { FIRST_GUIDES, type Guide, type Reader } from '#web/guides/library.ts';
import { QUERY_LENGTH_MAX } from '#web/guides/search.ts';
import { GUIDES_TEXTS as TEXTS } from '#web/guides/texts.ts';

interface GuidePage {
  readonly title: string;
  readonly body: Html;
  /** The page is for this reader. Undefined if nobody knows yet, and the page shows no guide. */
  readonly reader: Reader | undefined;
  /** They are all guides of this reader. */
  readonly guides?: readonly Guide[];
  /** This guide is open. */
  readonly open?: Guide | undefined;
  /** True if a chapter is open, so that the guide is above the page. */
  readonly isChapter?: boolean;
  readonly query?: string;
  readonly refusal?: Refusal | undefined;
}

/** Shows a page for one reader. Its search and navigation have guides for this reader only, and one link leads to those for others. */
export function showGuidePage(
  { frame }: { readonly frame: Frame },
  request: PageRequest,
  { reader, title, body, guides = [], open, isChapter = false, query = '', refusal }: GuidePage,
): PageResponse {
  const isAlone = reader === undefined || guides.length < 2;
  const look = `console${isAlone ? ` whole${reader === undefined ? '' : ' narrow'}` : ' guides'}`;
  const content = html`${headerFor(reader, frame, request)}
${isAlone ? undefined : sideOf(reader, guides, open, query)}
<main>
${reader === undefined ? undefined : pathTo(reader, guides, { open, isChapter, title })}
<h1>${title}</h1>
${body}
${reader !== undefined && isAlone ? html`<div class="soft">${linkLine('/guides', TEXTS.others)}</div>` : undefined}
</main>`;
  return consoleDocument(frame, { title, look, content, refusal, script: CONSOLE_SCRIPT });
}

/** App developers, and operators who are signed in, have the header of the console. Others have the way to what is theirs. */
function headerFor(reader: Reader | undefined, frame: Frame, request: PageRequest): Html {
  const isOperator = request.signedIn?.account.role === 'operator';
  if (reader === 'apps' || (reader === 'operators' && isOperator)) return ownerHeader(frame, request);
  const way = {
    owners: html`<a href="/wallet">${TEXTS.wallet}</a>`,
    operators: html`<a href="/ops">${TEXTS.operations}</a>`,
  };
  return html`<header>
${brandOf(frame)}
${reader === undefined ? undefined : html`<nav class="top" aria-label="${TEXTS.title}">${way[reader]}</nav>`}
</header>`;
}

/** Returns the way from the guide with which the reader begins. Undefined if that guide is the page itself. */
function pathTo(
  reader: Reader,
  guides: readonly Guide[],
  { open, isChapter, title }: Pick<GuidePage, 'open' | 'title'> & { readonly isChapter: boolean },
): Html | undefined {
  const first = guides.find(({ name }) => name === FIRST_GUIDES[reader]);
  const above = [...new Set([first, isChapter ? open : undefined])].filter(
    (guide) => guide !== undefined && (guide !== open || isChapter),
  );
  const crumbs = above.map((guide) => ({
    href: `/guides/${guide?.name}`,
    text: guide === first ? TEXTS.readers[reader].guides : (guide?.title ?? ''),
  }));
  return crumbs.length === 0 ? undefined : breadcrumbs(TEXTS.path, crumbs, title);
}

/** On a phone, the search stands above the page and the navigation below it. */
function sideOf(reader: Reader, guides: readonly Guide[], open: Guide | undefined, query: string): Html {
  const { guides: name, search } = TEXTS.readers[reader];
  const groups = [...Map.groupBy(guides, ({ group }) => group)];
  return html`<div class="side">
<form method="get" action="/guides" role="search" aria-label="${search}">
<input type="hidden" name="for" value="${reader}">
<label for="q">${TEXTS.search}</label>
<input type="search" id="q" name="q" value="${query}" maxlength="${QUERY_LENGTH_MAX}" autocomplete="off">
</form>
<nav aria-label="${name}">
${groups.map(([group, own]) => html`${group && html`<p class="soft">${TEXTS.groups[group]}</p>\n`}<ul>${own.map((guide) => entryOf(guide, guide === open))}</ul>\n`)}<p class="others"><a href="/guides">${TEXTS.others}</a></p>
</nav>
</div>`;
}

function entryOf({ name, title, reader }: Guide, isOpen: boolean): Html {
  const text = name === FIRST_GUIDES[reader] ? TEXTS.first : title;
  return html`<li><a href="/guides/${name}"${isOpen ? html` aria-current="page"` : undefined}>${text}</a></li>\n`;
}
