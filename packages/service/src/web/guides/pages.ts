import { type Html, html } from '#kernel/text/html.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { breadcrumbs, card, linkLine, pager, section } from '#web/components/parts.ts';
import type { PageMethods, PageRequest, PageResponse } from '#web/frame/page.ts';
import { brandOf, type Frame } from '#web/frame/page-shell.ts';
import {
  addressOf,
  chapterAddress,
  FIRST_GUIDES,
  type Guide,
  linkFrom,
  type Reader,
  readGuides,
} from '#web/guides/library.ts';
import { bodyOf } from '#web/guides/guide-body.ts';
import { idOf, plainOf } from '#web/guides/markdown.ts';
import { partsOf, QUERY_LENGTH_MAX, search } from '#web/guides/search.ts';
import { GUIDES_TEXTS as TEXTS } from '#web/guides/texts.ts';
import { CONSOLE_SCRIPT } from '#web/assets/console-script.ts';
import { consoleDocument, ownerHeader } from '#web/frame/owner-page.ts';

interface GuidesServices {
  readonly frame: Frame;
}

interface Library {
  readonly guides: readonly Guide[];
  readonly parts: ReturnType<typeof partsOf>;
}

const READERS = Object.keys(FIRST_GUIDES) as readonly Reader[];

/** The guides, for anybody. They are read with the first request, and kept. */
export function guidesPages(services: GuidesServices): Readonly<Record<string, PageMethods>> {
  let kept: Promise<Library> | undefined;
  const read = () => (kept ??= readGuides().then((guides) => ({ guides, parts: partsOf(guides) })));
  return {
    '/guides': {
      GET: async (request) => {
        const reader = READERS.find((one) => one === request.query.get('for'));
        const { guides, parts } = await read();
        if (reader !== undefined && guides.length > 0)
          return showResults(services, request, reader, { guides: guidesOf(guides, reader), parts });
        const body = guides.length === 0 ? card(html`<p>${TEXTS.notInstalled}</p>`) : question();
        return showGuidePage(services, request, { reader: undefined, title: TEXTS.title, body });
      },
    },
    '/guides/:part': {
      GET: async (request) => showGuide(services, request, (await read()).guides),
    },
  };
}

function guidesOf(guides: readonly Guide[], reader: Reader): readonly Guide[] {
  return guides.filter((guide) => guide.reader === reader);
}

/** Asks who the reader is, so that they see their guides and no others. */
function question(): Html {
  const ways = READERS.map((reader) => {
    const { heading, what, guides } = TEXTS.readers[reader];
    return section({
      id: reader,
      heading,
      body: [html`<p>${what}</p>`, linkLine(`/guides/${FIRST_GUIDES[reader]}`, guides)],
    });
  });
  return html`<p class="soft">${TEXTS.ask}</p>
<div class="ways">${ways}</div>`;
}

function showResults(
  services: GuidesServices,
  request: PageRequest,
  reader: Reader,
  { guides, parts }: Library,
): PageResponse {
  const query = (request.query.get('q') ?? '').trim().slice(0, QUERY_LENGTH_MAX);
  const body = query === '' ? card(html`<p>${TEXTS.empty}</p>`) : resultsOf(search(parts, query, reader), query);
  return showGuidePage(services, request, { reader, title: TEXTS.results, body, guides, query });
}

function resultsOf(found: ReturnType<typeof search>, query: string): Html {
  if (found.length === 0) return card(html`<p>${TEXTS.none(query)}</p>`);
  const items = found.map(
    ({ href, guide, heading, excerpt }) =>
      html`<li><div><a href="${href}">${heading}</a>${guide === heading ? undefined : html` <span class="soft">${guide}</span>`}<br>${excerpt}</div></li>\n`,
  );
  return section({ id: 'found', heading: TEXTS.found(found.length, query), body: [html`<ul>${items}</ul>`] });
}

function showGuide(services: GuidesServices, request: PageRequest, guides: readonly Guide[]): PageResponse {
  const guide = guides.find(({ name }) => name === request.part);
  const asked = request.query.get('chapter') ?? '';
  const at = guide?.chapters.findIndex(({ id }) => id === asked) ?? -1;
  const chapter = guide?.chapters[at];
  if (guide === undefined || chapter === undefined) {
    const body = card(html`<p role="alert">${TEXTS.missing}</p>`, linkLine('/guides', TEXTS.all));
    const refusal = refuse('NOT_FOUND', TEXTS.missing);
    return showGuidePage(services, request, { reader: undefined, title: TEXTS.missingTitle, body, refusal });
  }
  const neighbour = (index: number, text: string) => {
    const one = guide.chapters[index];
    return one && { href: chapterAddress(guide.name, one), text: `${text}: ${one.title}` };
  };
  const body = html`${contentsOf(guide, chapter.id)}
${card(bodyOf(chapter.blocks, (target) => linkFrom(guides, guide, target)))}
${pager({ newer: neighbour(at - 1, TEXTS.previous), older: neighbour(at + 1, TEXTS.next) })}`;
  return showGuidePage(services, request, {
    reader: guide.reader,
    title: chapter.title,
    body,
    guides: guidesOf(guides, guide.reader),
    open: guide,
    isChapter: chapter.id !== '',
  });
}

/** Lists the chapters on the first page of a guide, and on a chapter its own headings. */
function contentsOf(guide: Guide, chapterId: string): Html | undefined {
  const chapter = guide.chapters.find(({ id }) => id === chapterId);
  const headings = (chapter?.blocks ?? []).flatMap((block) =>
    block.type === 'heading' ? [{ href: addressOf(guide, idOf(block)) ?? '', text: plainOf(block.tokens) }] : [],
  );
  const others = chapterId === '' ? guide.chapters.slice(1) : [];
  const links = [...headings, ...others.map((one) => ({ href: chapterAddress(guide.name, one), text: one.title }))];
  if (links.length < 2) return undefined;
  const items = links.map(({ href, text }) => html`<li><a href="${href}">${text}</a></li>\n`);
  return html`<nav aria-label="${TEXTS.contents}" class="card"><h2>${TEXTS.contents}</h2><ul>${items}</ul></nav>`;
}

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
function showGuidePage(
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
