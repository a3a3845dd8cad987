import type { Person } from '#people/session.ts';
import { html } from '#kernel/text/html.ts';
import { appMark } from '#web/components/app-mark.ts';
import { linkLine, pager } from '#web/components/navigation.ts';
import { card } from '#web/components/section.ts';
import { sessionList, SESSIONS_SHOWN_MAX } from '#web/figures/session-list.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { MOVEMENT_TEXTS } from '#web/movements/texts.ts';
import { forWalletOwner } from '#web/wallet-owner/owned-wallet.ts';
import { walletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/services.ts';

/** Makes the page `/wallet/:part/sessions?before=`, which shows what sessions of coding agents have cost (CP-19). */
export function sessionsPage(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: forWalletOwner(services, async (own) => {
      const { request, connection, path } = own;
      const before = request.query.get('before') ?? undefined;
      const page = { before, most: SESSIONS_SHOWN_MAX };
      const { sessions, next } = await services.usage.sessions(connection, page);
      const { currency } = connection.wallet;
      const list = sessionList(
        sessions,
        { caption: MOVEMENT_TEXTS.sessionsCaption, currency, empty: MOVEMENT_TEXTS.noSessions },
        request.formats,
      );
      const pages = pager({
        newer: before === undefined ? undefined : { href: `${path}/sessions`, text: MOVEMENT_TEXTS.newestSessions },
        older:
          next === undefined
            ? undefined
            : { href: `${path}/sessions?before=${next}`, text: MOVEMENT_TEXTS.olderSessions },
      });
      const body = html`${linkLine(`${path}#movements`, MOVEMENT_TEXTS.receiptBack)}
<p>${MOVEMENT_TEXTS.sessionsWhat}</p>
${card(appMark(own.app), list, pages)}`;
      return { status: 200, page: walletOwnerPage(services, { title: MOVEMENT_TEXTS.sessionsTitle, body }) };
    }),
  };
}
