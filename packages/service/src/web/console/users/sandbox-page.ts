import { sandboxUserParamsSchema } from '@purser/contract/control.ts';
import { nextOutcomeSchema } from '@purser/contract/sandbox.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { parseEndUserId } from '#kernel/values/ids.ts';
import { type Micros, micros } from '#kernel/values/micros.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { SandboxWallet } from '#sandbox/wallets/sandbox-wallets.ts';
import { errorSummary, successNotice } from '#web/components/notices.ts';
import { badge, card, section } from '#web/components/parts.ts';
import { OTHER } from '#web/fields/fields.ts';
import { table } from '#web/figures/figures.ts';
import { type AppRequest, forApp, partsPager, showAppPage } from '#web/console/frame/app-page.ts';
import {
  AS_USUAL,
  nextForm,
  sandboxCode,
  testTokenNotice,
  testTokensPart,
  type Typed,
  typedFrom,
  typedOf,
  walletForm,
} from '#web/console/users/sandbox-form.ts';
import { SANDBOX_TEXTS as TEXTS, TEST_TOKEN_TEXTS } from '#web/console/users/texts.ts';
import { parseAmount } from '#web/format/typed-amount.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';
import { checked, type Form } from '#web/forms/form.ts';

const PAGE_LENGTH = 50;

/**
 * Shows at `/console/:part/sandbox` test users, what their next call does, and the outcomes to choose from (SB-04 to
 * SB-07).
 */
export const sandboxPage = forApp({
  GET: (asked) => showSandbox(asked),
  POST: async (asked, form) => {
    const of = form.field('act');
    if (of === 'make-token' || of === 'revoke-token') return changeTokens(asked, form);
    const done = await act(asked, form);
    if (done instanceof Refusal) return showSandbox(asked, { typed: typedOf(form), refusal: done });
    return redirectTo(asked.to('sandbox', { ...done }));
  },
});

/** Only owners of the app have tokens, as on the routes. */
async function changeTokens(asked: AppRequest, form: Form): Promise<PageResponse> {
  const { services, owner, app, role, to } = asked;
  if (role !== 'owner') return showSandbox(asked);
  if (form.field('act') === 'revoke-token') {
    await services.testTokens.revoke(owner, app.appId, form.field('token'));
    return redirectTo(to('sandbox', { done: 'revoked' }));
  }
  const made = await services.testTokens.make(owner, app.appId);
  return made instanceof Refusal
    ? showSandbox(asked, { typed: typedOf(form), refusal: made })
    : showSandbox(asked, undefined, made.text);
}

/** What was done, as the address of the page says it. */
interface Done {
  readonly done: 'set' | 'next' | 'cleared';
  readonly user: string;
}

async function act(asked: AppRequest, form: Form): Promise<Done | Refusal> {
  const { owner, services } = asked;
  const { sandboxWallets } = services;
  const { appId } = asked.app;
  const user = checked(sandboxUserParamsSchema, { appId, userId: typedOf(form).user }, { userId: TEXTS.user });
  if (user instanceof Refusal) return user;
  const { userId } = user;
  const wanted = form.field('next');
  if (wanted !== '') {
    const next = checked(nextOutcomeSchema, { outcome: wanted === AS_USUAL ? null : wanted }, {});
    if (next instanceof Refusal) return next;
    await sandboxWallets.setNext(owner, user, next.outcome ?? undefined);
    return { done: wanted === AS_USUAL ? 'cleared' : 'next', user: userId };
  }
  const reset = resetOf(form);
  if (reset instanceof Refusal) return reset;
  await sandboxWallets.reset(owner, user, reset);
  return { done: 'set', user: userId };
}

type Reset = Parameters<AppRequest['services']['sandboxWallets']['reset']>[2];

const PLAIN: Reset = { balance: undefined, cap: undefined, isSuspended: false };

/** What the choice of the form sets. */
function resetOf(form: Form): Reset | Refusal<'BAD_REQUEST'> {
  switch (form.field('wallet')) {
    case 'empty':
      return { ...PLAIN, balance: micros(0n) };
    case 'capped':
      return { ...PLAIN, cap: micros(1n) };
    case 'suspended':
      return { ...PLAIN, isSuspended: true };
    case 'reset':
      return PLAIN;
    case OTHER: {
      const { balance, cap, isSuspended } = typedOf(form);
      const amounts = [balance, cap].map((text) => (text.trim() === '' ? undefined : (parseAmount(text) ?? 'unread')));
      if (amounts.includes('unread')) return refuse('BAD_REQUEST', TEXTS.amountFault);
      const [balanceSet, capSet] = amounts as readonly (Micros | undefined)[];
      return { balance: balanceSet, cap: capSet, isSuspended };
    }
    default: // Taken for empty fields, it would reset a wallet that nobody meant.
      return refuse('BAD_REQUEST', TEXTS.nothingChosen);
  }
}

interface Refused {
  readonly typed: Typed;
  readonly refusal: Refusal;
}

async function showSandbox(asked: AppRequest, refused?: Refused, token?: string): Promise<PageResponse> {
  const { services, app, request, role } = asked;
  const tokens = role === 'owner' ? testTokensPart(asked, await services.testTokens.list(app.appId)) : undefined;
  const after = request.query.get('after') ?? '';
  const user = parseEndUserId(request.query.get('user') ?? '');
  const wallets = await services.sandboxWallets.list(app.appId, { after, most: PAGE_LENGTH });
  const chosen = user && (await services.sandboxWallets.find(app.appId, user));
  const typed = refused?.typed ?? typedFrom(user, chosen, request.query.has('done'));
  const rows = wallets.map((wallet) => rowOf(asked, wallet));
  const last = wallets.length === PAGE_LENGTH ? wallets.at(-1)?.userId : undefined;
  const body = html`${errorSummary(refused?.refusal.message)}${successNotice(doneText(asked, chosen))}${token === undefined ? undefined : testTokenNotice(token)}
<p class="soft">${TEXTS.what}</p>
<div class="columns">
${nextForm(asked, typed)}
${walletForm(asked, typed)}
</div>
${card(
  table({
    caption: TEXTS.caption,
    columns: TEXTS.columns.map((name, at) => ({ name, isNumeric: at > 0 && at < 6 })),
    rows,
    empty: TEXTS.none,
  }),
  partsPager(asked, 'sandbox', { by: 'after', from: after || undefined, next: last }, TEXTS),
)}
${section({ id: 'code', heading: TEXTS.code, body: [html`<p class="soft">${TEXTS.codeWhat}</p>`, ...sandboxCode(services.publicUrl, app.appId)] })}
${tokens}`;
  return showAppPage(asked, { title: TEXTS.title, body, page: 'sandbox', refusal: refused?.refusal });
}

function rowOf({ to, amountOf }: AppRequest, wallet: SandboxWallet): readonly Html[] {
  const { userId, balance, held, cap, isSuspended, requests, tokens, nextOutcome } = wallet;
  const count = new Intl.NumberFormat('en');
  return [
    html`<a href="${to('sandbox', { user: userId })}"><code>${userId}</code></a>${isSuspended ? html`<br>${badge(TEXTS.suspended, 'warn')}` : undefined}`,
    html`${amountOf(balance)}`,
    html`${amountOf(held)}`,
    html`${cap === undefined ? TEXTS.noCap : amountOf(cap)}`,
    html`${count.format(requests)}`,
    html`${count.format(tokens)}`,
    nextOutcome === undefined ? html`${TEXTS.usual}` : html`<code>${nextOutcome}</code>`,
  ];
}

/** Says what was done from what is true now, so that an address that somebody made up says nothing false. */
function doneText({ request }: AppRequest, wallet: SandboxWallet | undefined): string | undefined {
  if (request.query.get('done') === 'revoked') return TEST_TOKEN_TEXTS.revoked;
  if (wallet === undefined) return undefined;
  const { userId, nextOutcome } = wallet;
  const done = request.query.get('done');
  if (done === 'set') return TEXTS.done.set(userId);
  if (done === 'next' && nextOutcome !== undefined) return TEXTS.done.next(userId, nextOutcome);
  return done === 'cleared' && nextOutcome === undefined ? TEXTS.done.cleared(userId) : undefined;
}
