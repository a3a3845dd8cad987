import { checkFields } from '@purser/contract/check-fields.ts';
import { reasonSchema } from '@purser/contract/operator.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { unreachable } from '#kernel/faults/assert.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { PendingAct } from '#operator/acts/pending-act.ts';
import { doWalletAct, type WalletAct, type WalletEffects } from '#operator/money/wallet-preview.ts';
import { button } from '#web/components/button.ts';
import { filterForm } from '#web/fields/filter.ts';
import { hiddenField } from '#web/fields/form.ts';
import { linkLine } from '#web/components/navigation.ts';
import { errorSummary } from '#web/components/notices.ts';
import { textField } from '#web/fields/text-field.ts';
import { onceField, onceIn } from '#web/forms/once-field.ts';
import type { PageMethods, PageResponse } from '#web/frame/page.ts';
import type { Form } from '#web/forms/read-form.ts';
import { redirectTo } from '#web/frame/responses.ts';
import { forOperator, type OpsRequest } from '#web/ops/frame/for-operator.ts';
import { showOpsPage } from '#web/ops/frame/ops-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';
import { appLink } from '#web/ops/frame/links.ts';
import { actAsked, type Typed, typedIn, walletAsked } from '#web/ops/wallets/asked-act.ts';
import { effectsOf, signOf } from '#web/ops/wallets/effects.ts';
import { ACT_TEXTS, ASK_TEXTS as TEXTS, WALLET_TEXTS, WALLETS_TEXTS } from '#web/ops/wallets/texts.ts';

type Name = WalletAct['act'];

const REASON_LENGTH_MAX = 500;
/** The key of an act that is only previewed. Callers' keys cannot contain a space, so it was never used. */
const PREVIEW_KEY = 'page preview';

/**
 * Makes the page `/ops/wallet-<act>?app=&user=...`, which shows what an act will do to a wallet and its books, exactly,
 * and then does it. The form carries the key of the act, so a second copy of it books nothing, and what was shown, so
 * an act that has become another one meanwhile is shown again.
 */
export function actPage(services: OpsServices, act: Name): PageMethods {
  return forOperator(services, {
    GET: (asked) => show(services, asked, act),
    POST: (asked, form) => done(services, asked, act, form),
  });
}

async function previewed(
  { operator }: OpsServices,
  asked: OpsRequest,
  wanted: WalletAct,
  key: string,
): Promise<WalletEffects | Refusal> {
  const wallet = walletAsked(asked.request.query);
  if (wallet === undefined) return refuse('NOT_FOUND', WALLET_TEXTS.none);
  return operator.previews.walletAct(asked.act(undefined), wallet, { ...wanted, key });
}

interface Again {
  readonly refusal: Refusal;
  readonly reason: string;
}

/** The page with what the act will do. `again`: it was sent, and not done. */
async function show(services: OpsServices, asked: OpsRequest, act: Name, again?: Again): Promise<PageResponse> {
  const typed = typedIn(asked.request.query);
  const wanted = actAsked(act, typed);
  const effects =
    wanted === undefined || wanted instanceof Refusal ? wanted : await previewed(services, asked, wanted, PREVIEW_KEY);
  const refusal = again?.refusal ?? (effects instanceof Refusal ? effects : undefined);
  const texts = ACT_TEXTS[act];
  const names = await services.operator.apps.names(act === 'open' ? [] : [typed.app]);
  const body = html`${errorSummary(refusal?.message)}${act === 'open' ? undefined : html`<p>${TEXTS.wallet} <code>${typed.user}</code> ${TEXTS.inApp} ${appLink(asked.role, typed.app, names)}</p>`}
<p class="soft">${texts.what}</p>
${whichForm(act, typed, services.currency)}
${
  wanted === undefined || wanted instanceof Refusal || effects === undefined || effects instanceof Refusal
    ? undefined
    : html`${effectsOf(wanted, effects, { formats: asked.request.formats, isKept: await isKept(services, asked, wanted) })}\n${effects.isChange ? doForm(asked, act, { typed, effects, reason: again?.reason ?? '' }) : undefined}`
}
${act === 'open' ? undefined : linkLine(opsPath('wallet', { app: typed.app, user: typed.user }), TEXTS.back)}`;
  return showOpsPage(services, asked, {
    title: texts.title,
    body,
    page: 'wallets',
    above: WALLETS_TEXTS.title,
    refusal,
  });
}

/** What has to be chosen before an act can be shown. */
function whichForm(act: Name, typed: Typed, currency: string): Html | undefined {
  const field = (name: keyof Typed, label: string) => ({ name, label, value: typed[name] });
  const kept = { app: typed.app, user: typed.user };
  const action = opsPath(`wallet-${act}`);
  switch (act) {
    case 'open':
      return filterForm(action, 'live', [
        field('app', TEXTS.app),
        field('user', TEXTS.user),
        field('amount', TEXTS.firstCredit(currency)),
        field('cap', TEXTS.cap(currency)),
      ]);
    case 'refund':
      return filterForm(
        action,
        'live',
        [field('amount', TEXTS.amount(currency)), field('payment', TEXTS.payment)],
        kept,
      );
    case 'reinstate': {
      const choices = Object.entries(TEXTS.writeOffs).map(([value, text]) => ({ value, text }));
      return filterForm(action, 'live', [{ ...field('writeoff', TEXTS.writeOff), choices }], kept);
    }
    case 'release':
      return undefined;
    case 'credit':
    case 'clawback':
      return filterForm(action, 'live', [field('amount', TEXTS.amount(currency))], kept);
    default:
      return unreachable(act);
  }
}

/** The form that does the act. */
function doForm(
  asked: OpsRequest,
  act: Name,
  { typed, effects, reason }: { readonly typed: Typed; readonly effects: WalletEffects; readonly reason: string },
): Html {
  const fields = html`${onceField()}${hiddenField('shown', signOf(effects))}
${textField({ name: 'reason', label: TEXTS.reason, value: reason, lengthMax: REASON_LENGTH_MAX, isRequired: true, autocomplete: 'off' })}
${button(ACT_TEXTS[act].button, act === 'open' || act === 'credit' ? {} : { kind: 'danger' })}`;
  return asked.form(`wallet-${act}`, fields, { query: queryOf(typed) });
}

function queryOf(typed: Typed): string {
  return opsPath('', typed).split('?')[1] ?? '';
}

/** Does the act, unless it is another one by now than the page has shown. */
async function done(services: OpsServices, asked: OpsRequest, act: Name, form: Form): Promise<PageResponse> {
  const { query } = asked.request;
  const [wallet, wanted] = [walletAsked(query), actAsked(act, typedIn(query))];
  const once = onceIn(form);
  if (wallet === undefined || wanted === undefined || wanted instanceof Refusal || once === undefined) {
    return show(services, asked, act);
  }
  const again = (refusal: Refusal) => show(services, asked, act, { refusal, reason: form.field('reason') });
  const checked = checkFields(reasonSchema, { reason: form.field('reason') }, { reason: TEXTS.reason });
  if ('problems' in checked) {
    return again(refuse('BAD_REQUEST', checked.problems.map(({ message }) => message).join(' ')));
  }
  const key = `form-${once}`;
  const to = opsPath('wallet', {
    app: wallet.appId,
    user: wallet.userId,
    done: act,
    ...('amount' in wanted ? { key } : {}),
    payment: query.get('payment') ?? undefined,
  });
  const effects = await previewed(services, asked, wanted, key);
  const isDoneOr = async (refusal: Refusal) => ((await isDone(services, asked, act)) ? redirectTo(to) : again(refusal));
  if (effects instanceof Refusal) return isDoneOr(effects);
  if (effects.isChange && signOf(effects) !== form.field('shown')) return again(refuse('CONFLICT', TEXTS.changed));
  const acted = await doWalletAct(services.operator, asked.act(checked.value.reason), wallet, { ...wanted, key });
  if (acted instanceof PendingAct) return redirectTo(opsPath('pending', { done: 'asked' }));
  return acted instanceof Refusal ? isDoneOr(acted) : redirectTo(to); // A copy of the form may have been faster.
}

/** Whether an act without a key was done before, by the same form for example. It is refused the second time. */
async function isDone({ operator }: OpsServices, asked: OpsRequest, act: Name): Promise<boolean> {
  const wallet = walletAsked(asked.request.query);
  if (wallet === undefined || (act !== 'open' && act !== 'release')) return false;
  const found = await operator.wallets.find(wallet, { before: undefined, most: 1 });
  if (found === undefined || act === 'open') return found !== undefined;
  return !found.wallet.isConnected && (await operator.walletOwners.ofWallet(wallet)) === undefined;
}

/** Whether an act pays back a payment that is in no wallet, so that no balance has to cover it. */
async function isKept({ operator }: OpsServices, asked: OpsRequest, wanted: WalletAct): Promise<boolean> {
  const wallet = walletAsked(asked.request.query);
  if (wallet === undefined || wanted.act !== 'refund' || wanted.paymentId === undefined) return false;
  const payments = await operator.payments.list(wallet.appId, wallet.userId);
  return payments.some(({ paymentId, state }) => paymentId === wanted.paymentId && state === 'kept');
}
