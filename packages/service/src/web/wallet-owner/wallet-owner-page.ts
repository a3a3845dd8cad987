import type { Html } from '#kernel/html.ts';
import { type Frame, pageOf } from '#web/frame/page-shell.ts';

interface WalletOwnerPage {
  readonly title: string;
  readonly body: Html;
  readonly goesTo?: string;
  readonly isError?: boolean;
}

/** A page of people who own wallets: says in every case whether money is real (ON-03). */
export function walletOwnerPage(
  { operatorName, supportEmail, isTestMoney }: Required<Frame>,
  page: WalletOwnerPage,
): Html {
  return pageOf({ ...page, frame: { operatorName, supportEmail, isTestMoney } });
}
