import { ERROR_STATUS } from '@purser/contract/errors.ts';
import { FAULT_RETRY_SECONDS } from '#http/answers/envelope.ts';
import { refusals } from '#http/answers/refusal-counter.ts';
import { type Html, html } from '#kernel/text/html.ts';
import type { Refusal } from '#kernel/faults/refusal.ts';
import { card } from '#web/components/section.ts';
import { linkLine } from '#web/components/navigation.ts';
import type { Audience, PageResponse } from '#web/frame/page.ts';
import { pageOf } from '#web/frame/page-shell.ts';
import { REFUSAL_TEXTS as TEXTS } from '#web/frame/texts.ts';

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
