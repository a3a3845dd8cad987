import type { Refusal } from '#kernel/faults/refusal.ts';
import type { Html } from '#kernel/text/html.ts';
import { CONSOLE_STYLE_ELEMENT } from '#web/assets/page-policy.ts';
import { type PageResponse, showPage } from '#web/frame/page.ts';
import { type Frame, pageOf } from '#web/frame/page-shell.ts';

interface WalletOwnerPage {
  readonly title: string;
  readonly body: Html;
  readonly goesTo?: string;
  readonly isError?: boolean;
  /** It shows text to copy. Its answer says that it needs the style of the console. */
  readonly hasCode?: boolean;
}

/**
 * A page for wallet owners. `Required`: whether money is real can not be left out, because every one of these pages must say so
 * when it is not (ON-03).
 */
export function walletOwnerPage(
  { operatorName, supportEmail, statusPage, isTestMoney }: Required<Frame>,
  { hasCode = false, ...page }: WalletOwnerPage,
): Html {
  const frame = { operatorName, supportEmail, statusPage, isTestMoney };
  return pageOf({ ...page, frame, ...(hasCode ? { style: CONSOLE_STYLE_ELEMENT } : {}) });
}

/** The same as an answer. With a refusal, the page must show its message: the answer has its status. */
export function showWalletOwnerPage(
  frame: Required<Frame>,
  { refusal, ...page }: Omit<WalletOwnerPage, 'isError'> & { readonly refusal?: Refusal | undefined },
): PageResponse {
  return showPage(walletOwnerPage(frame, { ...page, isError: refusal !== undefined }), refusal);
}
