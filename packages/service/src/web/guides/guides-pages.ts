import { type Html, html } from '#kernel/html.ts';
import { refuse } from '#kernel/refusal.ts';
import { button } from '#web/components/button.ts';
import { breadcrumbs, pager } from '#web/components/navigation.ts';
import { card, section } from '#web/components/section.ts';
import { showConsolePage } from '#web/console/console-page.ts';
import { bodyOf } from '#web/guides/guide-body.ts';
import { addressOf, chapterAddress, GROUPS, type Guide, linkFrom, readGuides } from '#web/guides/library.ts';
import { plainOf } from '#web/guides/markdown.ts';
import { partsOf, search } from '#web/guides/search.ts';
import { GUIDES_TEXTS as TEXTS } from '#web/guides/texts.ts';
import type { PageMethods, PageRequest, PageResponse } from '#web/frame/page.ts';
import type { Frame } from '#web/frame/page-shell.ts';

interface GuidesServices {
  readonly frame: Frame;
}

const QUERY_LENGTH_MAX = 200;

/** The guides, for anybody. They are read with the first request, and kept. */
export function guidesPages(services: GuidesServices): Readonly<Record<string, PageMethods>> {
  let kept: Promise<{ readonly guides: readonly Guide[]; readonly parts: ReturnType<typeof partsOf> }> | undefined;
  const read = () => (kept ??= readGuides().then((guides) => ({ guides, parts: partsOf(guides) })));
  return {
    '/guides': {
      GET: async (request) => {
        const { guides, parts } = await read();
        const query = (request.query.get('q') ?? '').trim().slice(0, QUERY_LENGTH_MAX);
        const body = query === '' ? listOf(guides) : resultsOf(search(parts, query), query);
        return showConsolePage(services, request, { title: TEXTS.title, body: html`${searchForm(query)}${body}` });
      },
    },
    '/guides/:part': {
      GET: async (request) => showGuide(services, request, (await read()).guides),
    },
  };
}

function searchForm(query: string): Html {
  return html`<p class="soft">${TEXTS.what}</p>
<form method="get" action="/guides" class="filter" role="search">
<div><label for="q">${TEXTS.search}</label><input id="q" name="q" value="${query}" maxlength="${QUERY_LENGTH_MAX}" autocomplete="off"></div>
${button(TEXTS.find, { kind: 'quiet' })}
</form>`;
}

function listOf(guides: readonly Guide[]): Html {
  if (guides.length === 0) return card(html`<p>${TEXTS.notInstalled}</p>`);
  const groups = Object.entries(GROUPS).map(([group, name]) => {
    const links = guides
      .filter((guide) => guide.group === group)
      .map((guide) => html`<li><a href="/guides/${guide.name}">${guide.inList ?? plainOf(guide.title)}</a></li>\n`);
    return section({ id: group, heading: name, body: [html`<ul>${links}</ul>`] });
  });
  return html`<div class="columns">${groups}</div>`;
}

function resultsOf(found: ReturnType<typeof search>, query: string): Html {
  if (found.length === 0) return card(html`<p>${TEXTS.none(query)}</p>`);
  const items = found.map(
    ({ href, guide, heading, excerpt }) =>
      html`<li><div><a href="${href}">${heading}</a> <span class="soft">${guide}</span><br>${excerpt}</div></li>\n`,
  );
  return section({ id: 'found', heading: TEXTS.found(found.length, query), body: [html`<ul>${items}</ul>`] });
}

function showGuide(services: GuidesServices, request: PageRequest, guides: readonly Guide[]): PageResponse {
  const guide = guides.find(({ name }) => name === request.part);
  const asked = request.query.get('chapter') ?? '';
  const at = guide?.chapters.findIndex(({ id }) => id === asked) ?? -1;
  const chapter = guide?.chapters[at];
  if (guide === undefined || chapter === undefined) {
    const body = card(html`<p role="alert">${TEXTS.missing}</p>`, html`<p><a href="/guides">${TEXTS.all}</a></p>`);
    return showConsolePage(services, request, {
      title: TEXTS.missingTitle,
      body,
      refusal: refuse('NOT_FOUND', TEXTS.missing),
    });
  }
  const title = plainOf(chapter.title);
  const crumbs = [
    { href: '/guides', text: TEXTS.title },
    ...(chapter.id === '' ? [] : [{ href: `/guides/${guide.name}`, text: plainOf(guide.title) }]),
  ];
  const neighbour = (index: number, text: string) => {
    const one = guide.chapters[index];
    return one && { href: chapterAddress(guide.name, one), text: `${text}: ${plainOf(one.title)}` };
  };
  const pages = pager({ newer: neighbour(at - 1, TEXTS.previous), older: neighbour(at + 1, TEXTS.next) });
  const body = html`${breadcrumbs(TEXTS.path, crumbs, title)}
${contentsOf(guide, chapter.id)}
${card(bodyOf(chapter.blocks, (target) => linkFrom(guides, guide, target)))}
${pages}`;
  return showConsolePage(services, request, { title, body });
}

/** Lists the chapters on the first page of a guide, and on a chapter its own headings. */
function contentsOf(guide: Guide, chapterId: string): Html | undefined {
  const chapter = guide.chapters.find(({ id }) => id === chapterId);
  const headings = (chapter?.blocks ?? []).flatMap((block) =>
    block.kind === 'heading' ? [{ href: addressOf(guide, block.id) ?? '', text: plainOf(block.text) }] : [],
  );
  const others = chapterId === '' ? guide.chapters.slice(1) : [];
  const links = [
    ...headings,
    ...others.map((one) => ({ href: chapterAddress(guide.name, one), text: plainOf(one.title) })),
  ];
  if (links.length < 2) return undefined;
  const items = links.map(({ href, text }) => html`<li><a href="${href}">${text}</a></li>\n`);
  return html`<nav aria-label="${TEXTS.contents}" class="card"><h2>${TEXTS.contents}</h2><ul>${items}</ul></nav>`;
}
