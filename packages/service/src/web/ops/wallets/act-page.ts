import { reasonSchema } from '@purser/contract/operator.ts';
import { operatorWalletParamsSchema, walletPreviewSchema } from '@purser/contract/operator-wallets.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { PendingAct } from '#operator/acts/pending-act.ts';
import { doWalletAct, type WalletAct, type WalletEffects } from '#operator/money/wallet-preview.ts';
import { hiddenField } from '#web/fields/fields.ts';
import type { PageResponse } from '#web/frame/page.ts';
import { checked, type Form, onceField, onceIn } from '#web/forms/form.ts';
import { type Again, actPage, reasonField } from '#web/ops/frame/act-page.ts';
import type { OpsPage, OpsRequest } from '#web/ops/frame/asked.ts';
import { code, listing, opsPath, part } from '#web/ops/frame/details.ts';
import { choicesOf, type Fields, filledFilter } from '#web/ops/frame/list-page.ts';
import { OPS_TEXTS } from '#web/ops/frame/texts.ts';
import { ACT_TEXTS, ASK_TEXTS as TEXTS, WALLET_TEXTS } from '#web/ops/wallets/texts.ts';
import { walletActOf } from '#http/operator-plane/money/wallets.ts';
import { granted } from '#http/planes/planes.ts';
import type { AppId, EndUserId } from '#kernel/values/ids.ts';
import { AMOUNT_TEXTS } from '#web/components/texts.ts';
import { parseAmount } from '#web/format/typed-amount.ts';
import { type Micros, micros, ZERO_MICROS } from '#kernel/values/micros.ts';
import type { Wallet } from '#ledger/wallet/wallet.ts';
import { signedAmount } from '#web/figures/figures.ts';
import { warningNotice } from '#web/components/notices.ts';
import { button, card, linkLine } from '#web/components/parts.ts';
import type { Formats } from '#web/format/formats.ts';
import { entryTable, exactAmount, stateBadges } from '#web/ops/wallets/parts.ts';

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
  const given = granted(checked(reasonSchema, { reason: form.field('reason') }, { reason: OPS_TEXTS.reason }));
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

interface WalletName {
  readonly appId: AppId;
  readonly userId: EndUserId;
}

/** The fields of a page that asks before an act, as its address has them. */
const TYPED = ['app', 'user', 'amount', 'cap', 'payment', 'writeoff'] as const;

type Typed = Readonly<Record<(typeof TYPED)[number], string>>;

function typedIn({ asks }: OpsRequest): Typed {
  return Object.fromEntries(TYPED.map((name) => [name, asks(name)])) as Typed;
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
function actAsked(act: WalletAct['act'], typed: Typed): WalletAct | Refusal<'BAD_REQUEST'> | undefined {
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

/** What an act will do: the wallet before and after, and the entries that it writes. `isKept`: it is about a payment in no wallet. */
function effectsOf(asked: OpsRequest, wanted: WalletAct, effects: WalletEffects, isKept: boolean): Html {
  const { isChange, isForTwo, before, after, entries } = effects;
  const { currency } = after;
  if (!isChange) return part('effects', TEXTS.effects, TEXTS.nothing);
  const cap = ({ cap: most }: Wallet) => (most === undefined ? WALLET_TEXTS.noCap : asked.amount(most, currency));
  const figures = listing({
    caption: TEXTS.effects,
    columns: ['Figure', 'Before', 'After', 'Change'],
    numbers: [1, 2, 3],
    rows: [
      ...AMOUNTS.map(([name, of]) => {
        const now = before === undefined ? TEXTS.noWallet : exactAmount(asked, of(before), currency);
        const change = changeOf(before === undefined ? ZERO_MICROS : of(before), of(after), currency, asked.formats);
        return [name, now, exactAmount(asked, of(after), currency), change];
      }),
      wordsOf(WALLET_TEXTS.cap, before, after, cap),
      wordsOf(WALLET_TEXTS.state, before, after, stateBadges),
    ],
  });
  const texts = { caption: 'New entries', empty: 'There will be no new entries.' };
  const isLater = wanted.act === 'refund' && wanted.paymentId !== undefined;
  const missing = isKept ? undefined : missingFor(wanted, effects);
  return card(
    missing === undefined ? undefined : warningNotice(TEXTS.aboveBalance(asked.amount(missing, currency))),
    figures,
    entryTable(asked, entries, { ...texts, currency, hasTime: false }),
    isForTwo ? html`<p>${TEXTS.forTwo}</p>` : undefined,
    isLater ? html`<p>${TEXTS.later}</p>` : undefined,
    html`<p class="soft">${TEXTS.moves}</p>`,
  );
}

/** How much of a refund the wallet does not have. It is undefined if it has all of it. */
function missingFor(wanted: WalletAct, { before, entries }: WalletEffects): Micros | undefined {
  if (wanted.act !== 'refund' || before === undefined) return undefined;
  const isAside = entries.some(({ kind }) => kind === 'refund_set_aside');
  const there = wanted.paymentId === undefined ? before.balance : before.available;
  return isAside || wanted.amount <= there ? undefined : micros(wanted.amount - there);
}

const AMOUNTS: readonly (readonly [string, (wallet: Wallet) => Micros])[] = [
  [WALLET_TEXTS.balance, ({ balance }) => balance],
  [WALLET_TEXTS.held, ({ held }) => held],
  [WALLET_TEXTS.available, ({ available }) => available],
  [WALLET_TEXTS.shortfall, ({ shortfall }) => shortfall],
];

function changeOf(before: Micros, after: Micros, currency: string, formats: Formats): Html | string {
  if (before === after) return TEXTS.same;
  const [amount, direction] = after > before ? [after - before, 'in' as const] : [before - after, 'out' as const];
  return signedAmount({ amount: micros(amount), currency }, direction, formats);
}

/** A line of the table that is no amount. */
function wordsOf(name: string, before: Wallet | undefined, after: Wallet, of: (wallet: Wallet) => Html | string) {
  const [now, then] = [html`${before === undefined ? TEXTS.noWallet : of(before)}`, html`${of(after)}`];
  return [name, now, then, now.text === then.text ? TEXTS.same : 'changes'];
}

/**
 * What an act does beside moving a balance that calls move too, as a form carries it. If it is not the same any more when the
 * form arrives, the act would do something that nobody has read.
 */
function signOf({ isChange, isForTwo, before, after, entries }: WalletEffects): string {
  const booked = entries.map(({ kind, amount_micros }) => `${kind} ${amount_micros}`);
  return [isChange, isForTwo, stateOf(before), stateOf(after), ...booked].join(';');
}

function stateOf(wallet: Wallet | undefined): string {
  if (wallet === undefined) return 'none';
  return [wallet.isSuspended, wallet.isConnected, wallet.shortfall, wallet.cap ?? ''].join(',');
}
