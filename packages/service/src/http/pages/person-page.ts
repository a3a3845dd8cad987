import { type Html, html } from '#http/pages/html.ts';
import { pageOf } from '#http/pages/layout.ts';
import type { PeoplePages } from '#http/pages/people-pages.ts';
import { FRAME_TEXTS } from '#http/pages/texts/frame.ts';

interface PersonPage {
  readonly title: string;
  readonly body: Html;
  readonly isError?: boolean;
}

/** A page of people who own wallets: says in every case whether money is real (ON-03). */
export function personPage({ isTestMoney }: Pick<PeoplePages, 'isTestMoney'>, page: PersonPage): Html {
  const notice = isTestMoney ? html`<p class="test-money">${FRAME_TEXTS.testMoney}</p>` : undefined;
  return pageOf({ ...page, body: html`${notice}${page.body}` });
}
