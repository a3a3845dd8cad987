import type { Html } from '#kernel/html.ts';
import { type Frame, pageOf } from '#web/frame/page-shell.ts';

interface WalletOwnerPage {
  readonly title: string;
  readonly body: Html;
  readonly goesTo?: string;
  readonly isError?: boolean;
}

/**
 * A page for wallet owners. `Required`: whether money is real can not be left out, because every one of these pages must say so
 * when it is not (ON-03).
 */
export function walletOwnerPage(
  { operatorName, supportEmail, statusPage, isTestMoney }: Required<Frame>,
  page: WalletOwnerPage,
): Html {
  return pageOf({ ...page, frame: { operatorName, supportEmail, statusPage, isTestMoney } });
}
