import { type Html, html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { errorSummary } from '#web/components/notices.ts';
import { button, buttonLink, card, linkLine } from '#web/components/parts.ts';
import type { ConsoleMethods, ConsoleRequest } from '#web/console/frame/app-page.ts';
import { appPath } from '#web/console/frame/mode.ts';
import { INVITATION_TEXTS as TEXTS, TEAM_TEXTS } from '#web/console/team/texts.ts';
import { showOwnerPage } from '#web/frame/owner-page.ts';
import { type PageRequest, type PageResponse, redirectTo } from '#web/frame/page.ts';
import { keptToken } from '#web/frame/mailed-token.ts';

const INVITATION = '/invitation';

/**
 * Makes the page `/invitation`, where the link in the mail leads. The token moves into a cookie, so that it stands in
 * no history. Opening the link accepts nothing, because mail scanners open links too. After a sign-in, the list of apps
 * leads back here (`apps-page.ts`).
 */
export const invitationPage: ConsoleMethods = {
  GET: async (request) => {
    const moved = keptToken(request, 'invitation', INVITATION);
    if (moved !== undefined) return moved;
    return showInvitation(request);
  },
  POST: async (request, form) => {
    const { teams, cookies, addressOf } = request.services;
    const gone = [cookies.write('invitation', undefined)];
    if (form.field('act') === 'later') return redirectTo('/console', gone);
    if (request.signedIn === undefined) return redirectTo('/sign-in');
    const from = addressOf(request.exchange.request);
    const joined = await teams.accept(request.signedIn, request.cookie('invitation') ?? '', from);
    if (joined instanceof Refusal) return showInvitation(request, joined);
    return redirectTo(appPath(joined.appId, '', 'live'), gone);
  },
};

/** The invitation, for as long as its link works. The browser forgets one that no longer does. */
async function showInvitation(request: ConsoleRequest, refusal?: Refusal): Promise<PageResponse> {
  const { services } = request;
  const kept = request.cookie('invitation');
  const invitation = kept === undefined ? undefined : await services.teams.read(kept);
  if (invitation === undefined) {
    const gone = refuse('NOT_FOUND', TEXTS.noLink);
    const body = html`${errorSummary(gone.message)}\n${card(html`<p>${TEXTS.askAgain}</p>`, linkLine('/console', TEXTS.toConsole))}`;
    const shown = showOwnerPage(request, { title: TEXTS.title, body, refusal: gone, isNarrow: true });
    return { ...shown, cookies: [services.cookies.write('invitation', undefined)] };
  }
  const what = html`<p>${TEXTS.what(invitation.appName, TEAM_TEXTS.roles[invitation.role])}</p>`;
  const body = html`${errorSummary(refusal?.message)}\n${card(what, ...wayOn(request, invitation.email))}`;
  return showOwnerPage(request, { title: TEXTS.title, body, refusal, isNarrow: true });
}

/** What stands between this visitor and the team, and the one way past it. */
function wayOn(request: PageRequest, email: string): readonly Html[] {
  const { signedIn } = request;
  if (signedIn === undefined) {
    return [
      html`<p>${TEXTS.signIn(email)}</p>`,
      buttonLink('/sign-in', TEXTS.toSignIn),
      linkLine('/register', TEXTS.toRegister),
    ];
  }
  const { account } = signedIn;
  const later = request.form(INVITATION, button(TEXTS.later, { kind: 'quiet', name: 'act', value: 'later' }));
  if (account.email !== email) {
    const what = html`<p>${TEXTS.otherEmail(email, account.email)}</p>`;
    return [what, request.form('/sign-out', button(TEXTS.signOut)), later];
  }
  if (!account.isEmailVerified) {
    const what = html`<p>${TEXTS.verifyFirst(email)}</p>`;
    return [what, request.form('/account/verify/send', button(TEXTS.sendAgain)), later];
  }
  return [request.form(INVITATION, button(TEXTS.accept)), later];
}
