import { operatorWalletParamsSchema, walletPreviewSchema } from '@purser/contract/operator-wallets.ts';
import { walletActOf } from '#http/operator-plane/money/wallets.ts';
import type { AppId, EndUserId } from '#kernel/values/ids.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { WalletAct } from '#operator/money/wallet-preview.ts';
import { AMOUNT_TEXTS } from '#web/components/texts.ts';
import { parseAmount } from '#web/format/typed-amount.ts';
import { checked } from '#web/forms/checked.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { ASK_TEXTS as TEXTS } from '#web/ops/wallets/texts.ts';

interface WalletName {
  readonly appId: AppId;
  readonly userId: EndUserId;
}

/** The fields of a page that asks before an act, as its address has them. */
const FIELDS = ['app', 'user', 'amount', 'cap', 'payment', 'writeoff'] as const;

export type Typed = Readonly<Record<(typeof FIELDS)[number], string>>;

export function typedIn({ asks }: OpsRequest): Typed {
  return Object.fromEntries(FIELDS.map((name) => [name, asks(name)])) as Typed;
}

/** The wallet that an address names. Undefined if it names none. */
export function walletAsked({ query }: OpsRequest): WalletName | undefined {
  const named = { appId: query.get('app') ?? '', userId: query.get('user') ?? '' };
  const wallet = checked(operatorWalletParamsSchema, named, {});
  return wallet instanceof Refusal ? undefined : wallet;
}

/** Acts that move an amount, which has to be typed first. */
const NEED_AMOUNT: readonly WalletAct['act'][] = ['credit', 'refund', 'clawback'];

/** The act that was asked for, by the rules of the route. Undefined if something is still to be typed. */
export function actAsked(act: WalletAct['act'], typed: Typed): WalletAct | Refusal<'BAD_REQUEST'> | undefined {
  if (NEED_AMOUNT.includes(act) && typed.amount === '') return undefined;
  if (act === 'open' && (typed.app === '' || typed.user === '')) return undefined;
  const [amount, cap] = [typed.amount, typed.cap].map((text) => (text === '' ? undefined : parseAmount(text)));
  if ((typed.amount !== '' && amount === undefined) || (typed.cap !== '' && cap === undefined)) {
    return refuse('BAD_REQUEST', AMOUNT_TEXTS.fault);
  }
  const wanted = checked(
    walletPreviewSchema,
    {
      act,
      amountMicros: amount === undefined ? undefined : Number(amount),
      spendCapMicros: cap === undefined ? undefined : Number(cap),
      paymentId: typed.payment === '' ? undefined : typed.payment,
      writeOff: typed.writeoff === 'yes',
    },
    { amountMicros: 'Amount', spendCapMicros: 'Cap', paymentId: TEXTS.payment },
  );
  return wanted instanceof Refusal ? wanted : walletActOf(wanted);
}
