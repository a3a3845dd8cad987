import type { Person } from '#people/session.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { payableIn } from '#payments/processor/amounts.ts';
import type { Holdings, Obstacle, PersonWallet } from '#privacy/deletion.ts';
import { confirmation, errorSummary } from '#web/components/notices.ts';
import { button, card, definitionList, linkLine, list, paragraphs, section } from '#web/components/parts.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';
import { type Form, givenUpField, givenUpIn } from '#web/forms/form.ts';
import { DATA_TEXTS as TEXTS } from '#web/wallet-data/texts.ts';
import { hostOf, toCell } from '#web/wallet-owner/other-cells.ts';
import { DATA, nextField, SIGN_OUT, toSignIn } from '#web/wallet-owner/return-path.ts';
import type { WalletOwnerMethods, WalletOwnerRequest, WalletOwnerServices } from '#web/wallet-owner/services.ts';
import { showWalletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';

/** Where the two forms of the page lead. */
const EXPORT = `${DATA}/export`;
const DELETE = `${DATA}/delete`;
/**
 * This is as long as a proof of an account counts (`developers/sessions/fresh-proof.ts`). Signing in is the proof of people who
 * own wallets.
 */
const FRESH_MS = 10 * 60 * 1_000;

/** What is kept about a person: a copy of it, and its end (CP-12). */
export const dataPages: Readonly<Record<string, WalletOwnerMethods>> = {
  [DATA]: { GET: async (request) => (await dataPage(request)) ?? toSignIn(DATA) },
  [EXPORT]: { GET: () => redirectTo(DATA), POST: exported },
  [DELETE]: { GET: () => redirectTo(DATA), POST: deleted },
};

/** Tells whether the person signed in within ten minutes. Somebody who has found an open browser did not. */
function isFresh({ clock }: WalletOwnerServices, { createdAtMs }: Person): boolean {
  return clock.nowMs() - createdAtMs < FRESH_MS;
}

/** The copy, sent as it is read. */
async function exported(request: WalletOwnerRequest): Promise<PageResponse> {
  const { services, signedIn } = request;
  if (signedIn === undefined || !isFresh(services, signedIn)) return redirectTo(DATA);
  const { identityId } = signedIn.identity;
  const tooMany = await services.attempts.take([{ kind: 'person-export', of: identityId }]);
  if (tooMany !== undefined) return (await dataPage(request, tooMany)) ?? redirectTo(DATA);
  const pieces = await services.privacy.exportOwn(identityId);
  if (pieces === undefined) return redirectTo(DATA); // Deleted at this moment: the session has ended.
  const headers = {
    'content-type': 'application/octet-stream', // Saved, not shown.
    'content-disposition': `attachment; filename="${TEXTS.fileName}"`,
  };
  return { status: 200, file: { headers, text: pieces } };
}

/** The end. A second copy of the form finds nobody signed in and leads to the sign-in. */
async function deleted(request: WalletOwnerRequest, form: Form): Promise<PageResponse> {
  const { services, signedIn } = request;
  if (signedIn === undefined || !isFresh(services, signedIn)) return redirectTo(DATA);
  const done = await services.privacy.deleteOwn(signedIn.identity.identityId, givenUpIn(form));
  if (done !== undefined && done.obstacles.length > 0) {
    const isRest = done.obstacles.every(({ kind }) => kind === 'rest');
    const notYet = refuse('CONFLICT', isRest ? TEXTS.restChanged : TEXTS.notYet);
    return (await dataPage(request, notYet)) ?? redirectTo(DATA);
  }
  const receipt = done === undefined ? undefined : await receiptOf(request, done.rests);
  const body = html`${card(html`<p role="status">${TEXTS.gone}</p>`)}\n${receipt}`;
  const names = ['person', 'known', 'code'] as const;
  const page = showWalletOwnerPage(services, { title: TEXTS.goneTitle, body });
  return { ...page, cookies: names.map((name) => services.cookies.write(name, undefined)) };
}

/** The page. Undefined if nobody is signed in. */
async function dataPage(request: WalletOwnerRequest, refusal?: Refusal): Promise<PageResponse | undefined> {
  const { services, signedIn } = request;
  const holdings = signedIn && (await services.privacy.holdings(signedIn.identity.identityId));
  if (signedIn === undefined || holdings === undefined) return undefined;
  const fresh = isFresh(services, signedIn);
  const copy = fresh ? request.form(EXPORT, button(TEXTS.exportButton)) : undefined;
  const body = html`${errorSummary(refusal?.message)}
<p>${signedIn.identity.email}</p>
<p class="soft">${TEXTS.lead}</p>
${await elsewhere(services)}
${fresh ? undefined : proof(request)}
${section({ id: 'copy', heading: TEXTS.exportTitle, body: [html`<p>${TEXTS.exportWhat}</p>`, copy] })}
${section({
  id: 'end',
  heading: TEXTS.deleteTitle,
  body: [
    paragraphs(TEXTS.deleteWhat),
    holdings.obstacles.length > 0
      ? await obstaclesOf(services, holdings.obstacles)
      : fresh
        ? await endForm(request, holdings)
        : undefined,
  ],
})}
${linkLine('/wallet', TEXTS.toWallet)}`;
  return showWalletOwnerPage(services, { title: TEXTS.title, body, refusal });
}

/** What this page does not cover: each cell keeps its own part, with its own obstacles. */
async function elsewhere({ otherCells }: WalletOwnerServices): Promise<Html | undefined> {
  if (otherCells === undefined) return undefined;
  const { pages, isWhole } = await otherCells.allPages();
  const links = pages.map(
    (there) => html`<a href="${toCell(there.cell, DATA)}">${TEXTS.elsewhereAt(hostOf(there))}</a>`,
  );
  return section({
    id: 'elsewhere',
    heading: TEXTS.elsewhereTitle,
    body: [
      html`<p>${TEXTS.elsewhere}</p>`,
      links.length === 0 ? undefined : list(links),
      isWhole ? undefined : html`<p>${TEXTS.elsewhereAway}</p>`,
    ],
  });
}

function proof(request: WalletOwnerRequest): Html {
  const form = request.form(SIGN_OUT, html`${nextField(DATA)}\n${button(TEXTS.proveButton)}`);
  return section({ id: 'proof', heading: TEXTS.proveTitle, body: [html`<p>${TEXTS.prove}</p>`, form] });
}

/** The form of the deletion. It names each amount that is given up with it. */
async function endForm({ services, formats, form: formOf }: WalletOwnerRequest, { rests }: Holdings): Promise<Html> {
  const amounts = rests.map(({ balance, currency }) => formats.amount(balance, currency)).join(', ');
  const text = rests.length === 0 ? TEXTS.deleteButton : TEXTS.deleteAndGiveUp(amounts);
  const form = formOf(DELETE, html`${givenUpField(rests)}${button(text, { kind: 'danger' })}`);
  const items = rests.map(async (wallet) => {
    const { balance, currency } = wallet;
    const least = formats.amount(payableIn(currency).unit, currency);
    return TEXTS.givesUp(formats.amount(balance, currency), await appNameOf(services, wallet), least);
  });
  const given = rests.length === 0 ? undefined : list(await Promise.all(items));
  return html`${given}${confirmation({ act: TEXTS.deleteOpen, what: TEXTS.deleteWhat[2], form })}`;
}

/** What was given up, as nobody can be told by mail any more. */
async function receiptOf(
  { services, formats }: WalletOwnerRequest,
  rests: readonly PersonWallet[],
): Promise<Html | undefined> {
  if (rests.length === 0) return undefined;
  const items = rests.map(async (wallet) =>
    definitionList([
      [TEXTS.receiptAmount, formats.amount(wallet.balance, wallet.currency)],
      [TEXTS.receiptApp, await appNameOf(services, wallet)],
      [TEXTS.receiptUser, wallet.userId],
      [TEXTS.receiptAt, formats.moment(services.clock.nowMs())],
    ]),
  );
  return section({
    id: 'receipt',
    heading: TEXTS.receiptTitle,
    body: [html`<p>${TEXTS.receiptWhat}</p>`, ...(await Promise.all(items))],
  });
}

async function appNameOf({ apps }: WalletOwnerServices, { appId }: PersonWallet): Promise<string> {
  return (await apps.find(appId))?.name ?? appId;
}

/** What stands in the way, and what to do about it first. */
async function obstaclesOf(services: WalletOwnerServices, obstacles: readonly Obstacle[]): Promise<Html> {
  const { refunds, supportEmail } = services;
  const items = obstacles.map(async ({ kind, wallet }) => {
    if (wallet === undefined) return TEXTS.obstacles[kind]('');
    const app = await appNameOf(services, wallet);
    if (kind !== 'money' || refunds === undefined) return TEXTS.obstacles[kind](app);
    if ((await refunds.refundable(wallet.appId, wallet.userId)) === 0n) return TEXTS.moneyStays(app);
    return html`${TEXTS.obstacles[kind](app)} <a href="/wallet/${wallet.connectionId}/refund">${TEXTS.refund}</a>`;
  });
  const needsHelp = obstacles.some(({ kind }) => kind === 'money' || kind === 'debt' || kind === 'case');
  return html`<p>${TEXTS.notYet}</p>
${list(await Promise.all(items))}
${needsHelp && supportEmail !== undefined ? html`<p>${TEXTS.ask(supportEmail)}</p>` : undefined}`;
}
