import { reasonSchema } from '@purser/contract/operator.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { PendingAct } from '#operator/acts/pending-act.ts';
import { doWalletAct, type WalletAct, type WalletEffects } from '#operator/money/wallet-preview.ts';
import { button } from '#web/components/button.ts';
import { hiddenField } from '#web/fields/form.ts';
import { linkLine } from '#web/components/navigation.ts';
import { checked } from '#web/forms/checked.ts';
import { onceField, onceIn } from '#web/forms/once-field.ts';
import type { PageResponse } from '#web/frame/page.ts';
import type { Form } from '#web/forms/read-form.ts';
import { type Again, actPage, reasonField } from '#web/ops/frame/act-page.ts';
import type { OpsPage, OpsRequest } from '#web/ops/frame/asked.ts';
import { code } from '#web/ops/frame/details.ts';
import { choicesOf, type Fields, filledFilter } from '#web/ops/frame/list-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { OPS_TEXTS } from '#web/ops/frame/texts.ts';
import { actAsked, type Typed, typedIn, walletAsked } from '#web/ops/wallets/asked-act.ts';
import { effectsOf, signOf } from '#web/ops/wallets/effects.ts';
import { ACT_TEXTS, ASK_TEXTS as TEXTS, WALLET_TEXTS } from '#web/ops/wallets/texts.ts';

type Name = WalletAct['act'];

const amount = (currency: string) => ({ amount: { label: `Amount in ${currency}` } });

/** What has to be typed before an act can be shown. */
const FIELDS: Readonly<Record<Name, (currency: string) => Partial<Fields<keyof Typed>>>> = {
  open: (currency) => ({
    app: { label: 'App ID' },
    user: { label: 'User ID' },
    amount: { label: `First credit in ${currency}, if any` },
    cap: { label: `Monthly cap in ${currency}, if any` },
  }),
  credit: amount,
  refund: (currency) => ({ ...amount(currency), payment: { label: TEXTS.payment } }),
  clawback: amount,
  reinstate: () => ({ writeoff: { label: 'Shortfall', choices: choicesOf(TEXTS.writeOffs) } }),
  release: () => ({}),
};

/** The key of an act that is only previewed. Callers' keys cannot contain a space, so it was never used. */
const PREVIEW_KEY = 'page preview';

/**
 * The page `/ops/wallet-<act>?app=&user=...`, which shows what an act will do to a wallet and its books, exactly,
 * and then does it. The form carries the key of the act, so a second copy of it books nothing, and what was shown, so
 * an act that has become another one meanwhile is shown again.
 */
export function walletActPage(act: Name): OpsPage {
  return actPage({
    show: (asked, again) => show(asked, act, again),
    act: (asked, form) => done(asked, act, form),
  });
}

async function previewed(asked: OpsRequest, wanted: WalletAct, key: string): Promise<WalletEffects | Refusal> {
  const wallet = walletAsked(asked);
  if (wallet === undefined) return refuse('NOT_FOUND', WALLET_TEXTS.none);
  return asked.operator.previews.walletAct(asked.act(undefined), wallet, { ...wanted, key });
}

/** The page with what the act will do. */
async function show(asked: OpsRequest, act: Name, again?: Again): Promise<PageResponse> {
  const typed = typedIn(asked);
  const { app, user } = typed;
  const wanted = actAsked(act, typed);
  const effects =
    wanted === undefined || wanted instanceof Refusal ? wanted : await previewed(asked, wanted, PREVIEW_KEY);
  const refusal = again?.refusal ?? (effects instanceof Refusal ? effects : undefined);
  const texts = ACT_TEXTS[act];
  const names = await asked.operator.apps.names(act === 'open' ? [] : [app]);
  const whose = html`<p>The wallet of ${code(user)} in ${asked.appLink(app, names)}</p>`;
  const body = html`${act === 'open' ? undefined : whose}
<p class="soft">${texts.what}</p>
${filledFilter<string>(`wallet-${act}`, FIELDS[act](asked.currency), typed, act === 'open' ? {} : { app, user })}
${
  wanted === undefined || wanted instanceof Refusal || effects === undefined || effects instanceof Refusal
    ? undefined
    : html`${effectsOf(asked, wanted, effects, await isKept(asked, wanted))}\n${effects.isChange ? doForm(asked, act, typed, effects, again) : undefined}`
}
${act === 'open' ? undefined : linkLine(opsPath('wallet', { app, user }), 'Back to the wallet')}`;
  return asked.show({ title: texts.title, body, below: 'wallets', refusal });
}

/** The form that does the act. */
function doForm(asked: OpsRequest, act: Name, typed: Typed, effects: WalletEffects, again: Again | undefined): Html {
  const fields = html`${onceField()}${hiddenField('shown', signOf(effects))}
${reasonField({ value: again?.form.field('reason'), autocomplete: 'off' })}
${button(ACT_TEXTS[act].button, act === 'open' || act === 'credit' ? {} : { kind: 'danger' })}`;
  return asked.form(`wallet-${act}`, fields, { query: typed });
}

/** Does the act, unless it is another one by now than the page has shown. */
async function done(asked: OpsRequest, act: Name, form: Form): Promise<string | PageResponse | Refusal> {
  const [wallet, wanted] = [walletAsked(asked), actAsked(act, typedIn(asked))];
  const once = onceIn(form);
  if (wallet === undefined || wanted === undefined || wanted instanceof Refusal || once === undefined) {
    return show(asked, act);
  }
  const given = checked(reasonSchema, { reason: form.field('reason') }, { reason: OPS_TEXTS.reason });
  if (given instanceof Refusal) return given;
  const key = `form-${once}`;
  const to = opsPath('wallet', {
    app: wallet.appId,
    user: wallet.userId,
    done: act,
    ...('amount' in wanted ? { key } : {}),
    payment: asked.query.get('payment') ?? undefined,
  });
  const effects = await previewed(asked, wanted, key);
  const isDoneOr = async (refusal: Refusal) => ((await isDone(asked, act)) ? to : refusal);
  if (effects instanceof Refusal) return isDoneOr(effects);
  if (effects.isChange && signOf(effects) !== form.field('shown')) return refuse('CONFLICT', TEXTS.changed);
  const acted = await doWalletAct(asked.operator, asked.act(given.reason), wallet, { ...wanted, key });
  if (acted instanceof PendingAct) return opsPath('pending', { done: 'asked' });
  return acted instanceof Refusal ? isDoneOr(acted) : to; // A copy of the form may have been faster.
}

/** Whether an act without a key was done before, by the same form for example. It is refused the second time. */
async function isDone(asked: OpsRequest, act: Name): Promise<boolean> {
  const { operator } = asked;
  const wallet = walletAsked(asked);
  if (wallet === undefined || (act !== 'open' && act !== 'release')) return false;
  const found = await operator.wallets.find(wallet, { before: undefined, most: 1 });
  if (found === undefined || act === 'open') return found !== undefined;
  return !found.wallet.isConnected && (await operator.walletOwners.ofWallet(wallet)) === undefined;
}

/** Whether an act pays back a payment that is in no wallet, so that no balance has to cover it. */
async function isKept(asked: OpsRequest, wanted: WalletAct): Promise<boolean> {
  const wallet = walletAsked(asked);
  if (wallet === undefined || wanted.act !== 'refund' || wanted.paymentId === undefined) return false;
  const payments = await asked.operator.paymentsInto(wallet.appId, wallet.userId);
  return payments.some(({ paymentId, state }) => paymentId === wanted.paymentId && state === 'kept');
}
