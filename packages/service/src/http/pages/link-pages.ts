import { html } from '#http/pages/html.ts';
import { alertOf } from '#http/pages/layout.ts';
import type { PeoplePages } from '#http/pages/people-pages.ts';
import { personPage } from '#http/pages/person-page.ts';
import { LINK_TEXTS } from '#http/pages/texts/topup.ts';
import type { PageAnswer } from '#http/pages/visit.ts';

/** The one page of every link that does not work, whatever is wrong with it (BI-04). */
export function voidLinkPage(pages: Pick<PeoplePages, 'isTestMoney' | 'operatorName'>): PageAnswer {
  const body = html`${alertOf(LINK_TEXTS.void(pages.operatorName))}`;
  return { status: 404, page: personPage(pages, { title: LINK_TEXTS.voidTitle, body, isError: true }) };
}

/** Where the links of play money lead (SB-06, SB-09). */
export function sandboxPage(pages: Pick<PeoplePages, 'isTestMoney'>): PageAnswer {
  const body = html`<section><p>${LINK_TEXTS.sandbox}</p></section>`;
  return { status: 200, page: personPage(pages, { title: LINK_TEXTS.sandboxTitle, body }) };
}
