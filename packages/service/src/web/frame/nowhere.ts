import type { Exchange } from '#http/respond.ts';
import { refuse } from '#kernel/refusal.ts';
import { linkLine } from '#web/components/navigation.ts';
import { errorSummary } from '#web/components/notices.ts';
import { card } from '#web/components/section.ts';
import { type Frame, pageOf } from '#web/frame/page-shell.ts';
import { refusedBy } from '#web/frame/responses.ts';
import { sendPage } from '#web/frame/send-page.ts';
import { REFUSAL_TEXTS as TEXTS } from '#web/frame/texts.ts';

/** Answers people who opened an address that does not exist. Clients of the API get the envelope instead (ER-01). */
export function createNowhere(frame: Frame): (exchange: Exchange) => Promise<void> {
  const body = card(errorSummary(TEXTS.nowhere), linkLine('/', TEXTS.toStart));
  const page = pageOf({ title: TEXTS.nowhereTitle, body, frame, isError: true });
  return (exchange) => sendPage(exchange, refusedBy(refuse('NOT_FOUND', TEXTS.nowhere), page), 0);
}
