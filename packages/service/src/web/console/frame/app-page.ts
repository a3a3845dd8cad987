import { type AppRole, isAtLeast, leastRoleOf } from '@purser/contract/access.ts';
import type { App, OwnApps } from '#developers/app.ts';
import type { SignedIn } from '#developers/sessions/session.ts';
import { roleTooLow } from '#developers/teams/role.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { parseId, type Mode } from '#kernel/values/ids.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import type { ConsoleServices } from '#web/console/frame/services.ts';
import { appPath, modeOf } from '#web/console/frame/mode.ts';
import { CONSOLE_TEXTS as TEXTS } from '#web/console/frame/texts.ts';
import type { PageMethods, PageRequest, PageResponse } from '#web/frame/page.ts';
import type { Form } from '#web/forms/read-form.ts';
import { redirectTo, refusalPage } from '#web/frame/responses.ts';

/** One request for a page of an app, by somebody who may see this app. */
export interface AppRequest {
  readonly request: PageRequest;
  readonly signedIn: SignedIn;
  /** The owner, as the audit trail names them. */
  readonly owner: Parameters<OwnApps['change']>[0];
  readonly app: App;
  /** What this person may do with the app. A page shows no form that needs more. */
  readonly role: AppRole;
  /** Whether this person may send a form to a page, such as `settings`, in the mode that is shown. */
  readonly may: (page: string) => boolean;
  /** Stands in place of a form that they may not send. */
  readonly tooLow: () => Html;
  readonly mode: Mode;
  /** The address of another page of this app, in the same mode. */
  readonly to: (page: string, query?: Readonly<Record<string, string | undefined>>) => string;
}

interface AppPageMethods {
  readonly GET?: (asked: AppRequest) => Promise<PageResponse> | PageResponse;
  readonly POST?: (asked: AppRequest, form: Form) => Promise<PageResponse> | PageResponse;
}

/**
 * A page under `/console/:part`, for members of the app whose role suffices for the page (packages/contract/src/access.ts); a form may need
 * a higher role than looking. Visitors who are not signed in are led to the sign-in. An app of somebody else is answered exactly
 * like one that does not exist (AU-06). Where the mode of a key decides, it is the mode of the address: such a page has only keys of that mode.
 */
export function forApp(services: ConsoleServices, { GET, POST }: AppPageMethods): PageMethods {
  return {
    ...(GET === undefined ? {} : { GET: (request) => answer(services, 'GET', request, GET) }),
    ...(POST === undefined
      ? {}
      : { POST: (request, form) => answer(services, 'POST', request, (asked) => POST(asked, form)) }),
  };
}

async function answer(
  services: ConsoleServices,
  method: 'GET' | 'POST',
  request: PageRequest,
  show: (asked: AppRequest) => Promise<PageResponse> | PageResponse,
): Promise<PageResponse> {
  const { signedIn, exchange } = request;
  if (signedIn === undefined) return redirectTo('/sign-in');
  const { accountId, email } = signedIn.account;
  const appId = parseId('app', request.part);
  const member = appId === undefined ? undefined : await services.apps.membership(accountId, appId);
  if (member === undefined) return noSuchApp(services);
  const { app, role } = member;
  const mode = modeOf(request.query);
  const [, , , ...page] = exchange.path.split('/');
  const tooLow = roleTooLow(role, leastRoleOf(pageNameOf(method, page.join('/')), mode));
  if (tooLow !== undefined) return refusalPage({ home: toAppHome(app, mode), frame: services.frame }, tooLow);
  return show({
    request,
    signedIn,
    owner: { accountId, email, from: services.addressOf(exchange.request) },
    app,
    role,
    may: (to) => isAtLeast(role, leastRoleOf(pageNameOf('POST', to), mode)),
    tooLow: () => html`<p class="soft">${TEXTS.notAllowed}</p>`,
    mode,
    to: (page, query) => appPath(app.appId, page, mode, query),
  });
}

/** A page as the table of least roles names it. */
function pageNameOf(method: 'GET' | 'POST', page: string): string {
  return `${method} /console/:part${page === '' ? '' : `/${page}`}`;
}

function toAppHome({ appId, name }: App, mode: Mode) {
  return { path: appPath(appId, '', mode), name };
}

function noSuchApp({ frame }: ConsoleServices): PageResponse {
  return refusalPage({ home: { path: '/console', name: TEXTS.toConsole }, frame }, refuse('NOT_FOUND', TEXTS.noApp));
}
