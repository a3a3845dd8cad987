import { html } from '#kernel/text/html.ts';
import { epochMsOf, isoOf } from '#kernel/time/clock.ts';
import { placeText } from '#ledger/history/place.ts';
import { appMark, card, linkLine, pager } from '#web/components/parts.ts';
import { table } from '#web/figures/figures.ts';
import type { PageResponse } from '#web/frame/page.ts';
import { cellsOf, COLUMNS, lineOf, readMovements, startOf } from '#web/movements/movements.ts';
import { MOVEMENT_TEXTS } from '#web/movements/texts.ts';
import { nothingHere, type OwnedWallet } from '#web/wallet-owner/owned-wallet.ts';
import { showWalletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';

/** Fifty movements keep the page under 50 KB. The file has all of them. */
const MOVEMENTS_SHOWN_MAX = 50;
const DAY = /^2\d{3}-\d{2}-\d{2}$/;

/**
 * Makes the page `?day=YYYY-MM-DD&before=N`, which shows the movements of a day, the newest first. With `before`, it
 * shows those below that entry. The wallet's page has the links.
 */
export async function dayPage(own: OwnedWallet, day: string): Promise<PageResponse> {
  const atMs = DAY.test(day) ? epochMsOf(day) : Number.NaN;
  const { services, connection, wallet, path, request } = own;
  if (Number.isNaN(atMs)) return nothingHere(services);
  const { formats } = request;
  const { currency } = connection.wallet;
  const before = startOf(request.query);
  // One more than is shown tells whether there is an older page, without counting them all.
  const read = await readMovements(services, wallet, { before, most: MOVEMENTS_SHOWN_MAX + 1 });
  const ofDay = read.movements.filter((movement) => isoOf(movement.atMs).startsWith(day));
  const shown = ofDay.slice(0, MOVEMENTS_SHOWN_MAX);
  const last = ofDay.length > MOVEMENTS_SHOWN_MAX ? shown.at(-1) : undefined;
  const lines = shown.map((movement) => lineOf(movement, read.calls, { currency, formats }));
  const movements = table({
    caption: MOVEMENT_TEXTS.movementsTitle,
    columns: COLUMNS,
    rows: [...cellsOf(lines, currency, formats).values()],
    empty: MOVEMENT_TEXTS.noMovements,
  });
  const older = last && {
    href: `${path}?day=${day}&before=${placeText(last)}`,
    text: MOVEMENT_TEXTS.olderMovements,
  };
  const body = html`${linkLine(`${path}#movements`, MOVEMENT_TEXTS.receiptBack)}
${card(appMark(own.app), movements, pager({ newer: undefined, older }))}`;
  return showWalletOwnerPage(services, { title: formats.day(atMs), body });
}
