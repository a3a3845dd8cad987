import { html } from '#kernel/text/html.ts';
import { appMark, card, linkLine, pager } from '#web/components/parts.ts';
import { sessionList, SESSIONS_SHOWN_MAX } from '#web/figures/session-list.ts';
import { MOVEMENT_TEXTS } from '#web/movements/texts.ts';
import { forWalletOwner } from '#web/wallet-owner/owned-wallet.ts';
import { showWalletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';

/** Makes the page `/wallet/:part/sessions?before=`, which shows what sessions of coding agents have cost (CP-19). */
export const sessionsPage = forWalletOwner({
  GET: async ({ services, request, connection, path, app }) => {
    const before = request.query.get('before') ?? undefined;
    const page = { before, most: SESSIONS_SHOWN_MAX };
    const { sessions, next } = await services.usage.sessions(connection, page);
    const { currency } = connection.wallet;
    const list = sessionList(
      sessions,
      { caption: MOVEMENT_TEXTS.sessionsCaption, currency, empty: MOVEMENT_TEXTS.noSessions },
      request.formats,
    );
    const href = `${path}/sessions`;
    const pages = pager({
      newer: before === undefined ? undefined : { href, text: MOVEMENT_TEXTS.newestSessions },
      older: next === undefined ? undefined : { href: `${href}?before=${next}`, text: MOVEMENT_TEXTS.olderSessions },
    });
    const body = html`${linkLine(`${path}#movements`, MOVEMENT_TEXTS.receiptBack)}
<p>${MOVEMENT_TEXTS.sessionsWhat}</p>
${card(appMark(app), list, pages)}`;
    return showWalletOwnerPage(services, { title: MOVEMENT_TEXTS.sessionsTitle, body });
  },
});
