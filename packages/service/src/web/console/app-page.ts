import type { App, OwnApps } from '#accounts/app.ts';
import type { SignedIn } from '#accounts/session.ts';
import { parseId, type Mode } from '#kernel/ids.ts';
import { refuse } from '#kernel/refusal.ts';
import type { ConsoleServices } from '#web/console/console-services.ts';
import { appPath, modeOf } from '#web/console/mode.ts';
import { CONSOLE_TEXTS as TEXTS } from '#web/console/texts.ts';
import type { PageMethods, PageRequest, PageResponse } from '#web/frame/page.ts';
import type { Form } from '#web/frame/read-form.ts';
import { redirectTo, refusalPage } from '#web/frame/responses.ts';

/** One request for a page of an app, by somebody who may see this app. */
export interface AppRequest {
  readonly request: PageRequest;
  readonly signedIn: SignedIn;
  /** The same person, as the audit trail names them. */
  readonly owner: Parameters<OwnApps['change']>[0];
  readonly app: App;
  readonly mode: Mode;
  /** The address of another page of this app, in the same mode. */
  readonly to: (page: string, query?: Readonly<Record<string, string | undefined>>) => string;
}

interface AppPageMethods {
  readonly GET?: (asked: AppRequest) => Promise<PageResponse> | PageResponse;
  readonly POST?: (asked: AppRequest, form: Form) => Promise<PageResponse> | PageResponse;
}

/**
 * A page under `/console/:part`. Visitors who are not signed in are led to the sign-in. An app of somebody else is
 * answered exactly like one that does not exist (AU-06).
 */
export function forApp(services: ConsoleServices, { GET, POST }: AppPageMethods): PageMethods {
  return {
    ...(GET === undefined ? {} : { GET: (request) => answer(services, request, GET) }),
    ...(POST === undefined ? {} : { POST: (request, form) => answer(services, request, (asked) => POST(asked, form)) }),
  };
}

async function answer(
  services: ConsoleServices,
  request: PageRequest,
  show: (asked: AppRequest) => Promise<PageResponse> | PageResponse,
): Promise<PageResponse> {
  const { signedIn, exchange } = request;
  if (signedIn === undefined) return redirectTo('/sign-in');
  const { accountId, email } = signedIn.account;
  const appId = parseId('app', request.part);
  const app = appId === undefined ? undefined : await services.apps.find(accountId, appId);
  if (app === undefined) return noSuchApp(services);
  const mode = modeOf(request.query);
  return show({
    request,
    signedIn,
    owner: { accountId, email, from: services.addressOf(exchange.request) },
    app,
    mode,
    to: (page, query) => appPath(app.appId, page, mode, query),
  });
}

function noSuchApp({ frame }: ConsoleServices): PageResponse {
  return refusalPage({ home: { path: '/console', name: TEXTS.toConsole }, frame }, refuse('NOT_FOUND', TEXTS.noApp));
}
