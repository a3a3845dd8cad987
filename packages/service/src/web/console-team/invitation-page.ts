import { html } from '#kernel/html.ts';
import { Refusal, refuse } from '#kernel/refusal.ts';
import { button } from '#web/components/button.ts';
import { linkLine } from '#web/components/navigation.ts';
import { errorSummary } from '#web/components/notices.ts';
import { card } from '#web/components/section.ts';
import { appPath } from '#web/console/mode.ts';
import type { TeamServices } from '#web/console-team/console-team-services.ts';
import { INVITATION_TEXTS as TEXTS, TEAM_TEXTS } from '#web/console-team/texts.ts';
import type { PageMethods, PageResponse } from '#web/frame/page.ts';
import { pageOf } from '#web/frame/page-shell.ts';
import { redirectTo, refusedBy } from '#web/frame/responses.ts';

const INVITATION = '/invitation';
/** The form of a token. Anything else in the address is dropped. */
const TOKEN = /^[0-9A-Za-z]{1,256}$/;

/**
 * `/invitation`: where the link in the mail leads. The token moves into a cookie, so that it stands in no history. Opening the link
 * accepts nothing, because mail scanners open links too. After a sign-in, the list of apps leads back here (`apps-page.ts`).
 */
export function invitationPage({ teams, cookies, frame, addressOf }: TeamServices): PageMethods {
  const refused = (refusal: Refusal): PageResponse => {
    const body = html`${errorSummary(refusal.message)}\n${linkLine('/console', TEXTS.toConsole)}`;
    const page = pageOf({ title: TEXTS.title, body, frame, isError: true });
    return { ...refusedBy(refusal, page), cookies: [cookies.write('invitation', undefined)] };
  };
  return {
    GET: async (request) => {
      const token = request.query.get('token');
      if (token !== null) {
        return redirectTo(INVITATION, [cookies.write('invitation', TOKEN.test(token) ? token : undefined)]);
      }
      const kept = request.cookie('invitation');
      const invitation = kept === undefined ? undefined : await teams.read(kept);
      if (invitation === undefined) return refused(refuse('NOT_FOUND', TEXTS.noLink));
      const what = html`<p>${TEXTS.what(invitation.appName, TEAM_TEXTS.roles[invitation.role])}</p>`;
      const ways =
        request.signedIn === undefined
          ? html`<p>${TEXTS.signIn(invitation.email)}</p>
${linkLine('/sign-in', TEXTS.toSignIn)}
${linkLine('/register', TEXTS.toRegister)}`
          : request.form(
              INVITATION,
              html`${button(TEXTS.accept)}\n${button(TEXTS.later, { kind: 'quiet', name: 'act', value: 'later' })}`,
            );
      return { status: 200, page: pageOf({ title: TEXTS.title, body: card(what, ways), frame }) };
    },
    POST: async (request, form) => {
      const gone = [cookies.write('invitation', undefined)];
      if (form.field('act') === 'later') return redirectTo('/console', gone);
      if (request.signedIn === undefined) return redirectTo('/sign-in');
      const from = addressOf(request.exchange.request);
      const joined = await teams.accept(request.signedIn, request.cookie('invitation') ?? '', from);
      if (joined instanceof Refusal) return refused(joined);
      return redirectTo(appPath(joined.appId, '', 'live'), gone);
    },
  };
}
