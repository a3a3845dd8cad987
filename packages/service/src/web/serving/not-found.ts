import type { CallerAddress } from '#http/requests/caller-address.ts';
import type { Exchange } from '#http/answers/respond.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import { errorSummary } from '#web/components/notices.ts';
import { card, linkLine } from '#web/components/parts.ts';
import { type Frame, pageOf } from '#web/frame/page-shell.ts';
import type { PagePace } from '#web/serving/page-pace.ts';
import { refusalPage, refusedBy } from '#web/frame/page.ts';
import { sendPage } from '#web/serving/send-page.ts';
import { REFUSAL_TEXTS as TEXTS } from '#web/frame/texts.ts';

interface NotFoundOptions {
  readonly frame: Frame;
  readonly addressOf: CallerAddress;
  readonly pace: PagePace;
}

/** Answers people who opened an address that does not exist. Clients of the API get the envelope instead (ER-01). */
export function createNotFound({ frame, addressOf, pace }: NotFoundOptions): (exchange: Exchange) => Promise<void> {
  const home = { path: '/', name: TEXTS.toStart };
  const body = card(errorSummary(TEXTS.nowhere), linkLine(home.path, home.name));
  const page = pageOf({ title: TEXTS.nowhereTitle, body, frame, isError: true });
  return async (exchange) => {
    const tooFast = await pace.ofAddress(addressOf(exchange.request), false);
    const shown =
      tooFast === undefined
        ? refusedBy(refuse('NOT_FOUND', TEXTS.nowhere), page)
        : refusalPage({ home, frame }, tooFast);
    await sendPage(exchange, shown, 0);
  };
}
