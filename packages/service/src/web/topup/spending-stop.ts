import type { Connection } from '#connections/connection.ts';
import type { Html } from '#kernel/text/html.ts';
import { type Micros, MICROS_MAX, micros, ZERO_MICROS } from '#kernel/values/micros.ts';
import { choiceField } from '#web/fields/fields.ts';
import { warningNotice } from '#web/components/notices.ts';
import type { Formats } from '#web/format/formats.ts';
import type { Form } from '#web/forms/form.ts';
import { STOP_TEXTS as TEXTS } from '#web/topup/texts.ts';
import type { OfferedAmounts } from '#web/topup/topup-amounts.ts';
import type { OpenedLink } from '#web/wallet-owner/open-link.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/services.ts';

/** Something that stops an app from spending, no matter how much is paid in (WA-03). */
export interface SpendingStop {
  readonly kind: 'paused' | 'cap';
  readonly connection: Connection;
  /** A cap under which the refused call goes through. Undefined if the present one has room for it, once the pause ends. */
  readonly raised: Micros | undefined;
}

const FIELD = 'spending';
const KEEP = 'keep';
const RESUME = 'resume';
const MICROS_TEXT = /^[1-9]\d{0,15}$/;

/** Returns undefined if nothing stops the app, or if a block does: nobody but the operator can lift that. */
export function spendingStopOf({ link, connection }: OpenedLink, offered: OfferedAmounts): SpendingStop | undefined {
  if (connection === undefined || connection.wallet.isSuspended) return undefined;
  const { cap, isPaused, wallet } = connection;
  // Holds are left out: they pass by themselves, and the page is for what does not.
  const needed = wallet.spentThisMonth + ((link.purpose === 'connect' ? undefined : link.least) ?? 1n);
  const raised = cap === undefined || needed <= cap ? undefined : raisedCap(needed, offered);
  if (isPaused) return { kind: 'paused', connection, raised };
  return raised === undefined ? undefined : { kind: 'cap', connection, raised };
}

/**
 * Returns a cap with room for what is needed and for the smallest top-up, rounded up to the second smallest: 10, 20, 30
 * units.
 */
function raisedCap(needed: bigint, { choices }: OfferedAmounts): Micros {
  const [small, step] = [choices[0] ?? 0n, choices[1] ?? 1n];
  const raised = ((needed + small + step - 1n) / step) * step;
  return raised > MICROS_MAX ? MICROS_MAX : micros(raised);
}

/** Says before the payment that it will not help by itself, with the figures. */
export function stopWarning({ amount }: Formats, appName: string, { kind, connection }: SpendingStop): Html {
  const { cap, wallet } = connection;
  if (kind === 'paused') return warningNotice(TEXTS.paused(appName));
  const limit = amount(cap ?? ZERO_MICROS, wallet.currency);
  return warningNotice(TEXTS.capped(appName, limit, amount(wallet.spentThisMonth, wallet.currency)));
}

/** The decision, as a part of the form that pays. Nothing is chosen at first: nobody raises a cap by accident. */
export function stopField({ amount }: Formats, { kind, connection, raised }: SpendingStop): Html {
  const { cap, wallet } = connection;
  const text = raised === undefined ? undefined : amount(raised, wallet.currency);
  const mended =
    kind === 'paused'
      ? text === undefined
        ? { value: RESUME, text: TEXTS.resume }
        : { value: String(raised), text: TEXTS.resumeRaised(text) }
      : { value: String(raised), text: TEXTS.raise(text ?? '') };
  const kept = kind === 'paused' ? TEXTS.stayPaused : TEXTS.keep(amount(cap ?? ZERO_MICROS, wallet.currency));
  return choiceField({
    name: FIELD,
    legend: kind === 'paused' ? TEXTS.pause : TEXTS.cap,
    choices: [
      { ...mended, id: `${FIELD}-mended` },
      { value: KEEP, text: kept },
    ],
  });
}

/** Does what the form decided. False if it decided nothing, or something that the page did not offer. */
export async function decideOnStop(
  { connections }: Pick<WalletOwnerServices, 'connections'>,
  form: Form,
  { connection: { connectionId, identityId } }: SpendingStop,
): Promise<boolean> {
  const decided = form.field(FIELD);
  const owner = { connectionId, identityId };
  if (decided === KEEP) return true;
  if (decided === RESUME) return connections.setPaused(owner, false);
  const cap = MICROS_TEXT.test(decided) ? BigInt(decided) : undefined;
  if (cap === undefined || cap > MICROS_MAX) return false;
  return connections.setCap(owner, micros(cap)); // Ends a pause, too.
}
