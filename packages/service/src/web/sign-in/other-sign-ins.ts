import { type Html, html } from '#kernel/text/html.ts';
import { linkLine } from '#web/components/navigation.ts';
import { SIGN_IN_TEXTS } from '#web/sign-in/texts.ts';
import { fromCell, hostOf } from '#web/wallet-owner/other-cells.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/services.ts';

/** Nobody reads a longer list before they type their e-mail. */
const OFFERED_MAX = 3;

/** The ways to use a sign-in of another cell. Which of them this browser has, if any, is not known here. */
export async function otherSignIns({ otherCells }: WalletOwnerServices, next: string): Promise<Html | undefined> {
  const { pages = [] } = (await otherCells?.allPages()) ?? {};
  if (pages.length === 0 || pages.length > OFFERED_MAX) return undefined;
  return html`${pages.map((there) => linkLine(fromCell(there.cell, next), SIGN_IN_TEXTS.useOther(hostOf(there))))}`;
}
