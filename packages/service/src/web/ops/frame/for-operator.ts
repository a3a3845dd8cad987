import {
  isAtLeastOperator,
  type OperatorAccess,
  operatorAccessOf,
  type OperatorRole,
} from '@purser/contract/operator-access.ts';
import { isFactorMissing, isSsoMissing, operatorRefusal, operatorRoleOf } from '#developers/operators/role.ts';
import type { Account, SignedIn } from '#developers/sessions/session.ts';
import { html } from '#kernel/text/html.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { micros } from '#kernel/values/micros.ts';
import { hiddenField, PROOF_FIELD } from '#web/fields/fields.ts';
import { button, buttonLink, buttonLinkAside, card, linkLine } from '#web/components/parts.ts';
import { moment } from '#web/figures/figures.ts';
import {
  type PageMethods,
  type PageRequest,
  type PageResponse,
  redirectTo,
  refusalPage,
  refusedBy,
} from '#web/frame/page.ts';
import type { Form } from '#web/forms/form.ts';
import { pageOf } from '#web/frame/page-shell.ts';
import type { OpsPage, OpsRequest, OpsServices } from '#web/ops/frame/asked.ts';
import { appLink, entityLink, mayOpen } from '#web/ops/frame/links.ts';
import { type OpsPageParts, showOpsPage } from '#web/ops/frame/ops-page.ts';
import { opsPath } from '#web/ops/frame/details.ts';
import { OPS_TEXTS as TEXTS } from '#web/ops/frame/texts.ts';

/**
 * A page under `/ops`, for operators whose role suffices (packages/contract/src/operator-access.ts). The same rules as on the routes under
 * `/operator`. Visitors who are not signed in are led to the sign-in, operators without a second factor to their account where
 * they need one. A form without a fresh proof is kept on a page that leads to the proof.
 */
export function forOperator(services: OpsServices, { GET, POST, formPage, formBytesMax }: OpsPage): PageMethods {
  return {
    ...(GET === undefined ? {} : { GET: (request) => answer(services, 'GET', request, GET) }),
    ...(POST === undefined
      ? {}
      : {
          POST: (request, form) =>
            answer(services, 'POST', request, (asked) => POST(asked, form), { form, page: formPage }),
        }),
    ...(formBytesMax === undefined
      ? {}
      : {
          formBytesMax: ({ account }, path) => (isLetIn(services, account, `POST ${path}`) ? formBytesMax : undefined),
        }),
  };
}

/** Whether this account may use a page. A fresh proof is not asked for yet: without one, the form leads to the proof. */
function isLetIn({ rules }: OpsServices, account: Account, name: string): boolean {
  const role = operatorRoleOf(account);
  if (role === undefined || isSsoMissing(account, rules) || isFactorMissing(account, rules)) return false;
  return isAtLeastOperator(role, operatorAccessOf(name).least);
}

async function answer(
  services: OpsServices,
  method: 'GET' | 'POST',
  request: PageRequest,
  show: (asked: OpsRequest) => Promise<PageResponse> | PageResponse,
  sent?: Sent,
): Promise<PageResponse> {
  const { rules, frame } = services;
  const { signedIn, exchange } = request;
  if (signedIn === undefined) return redirectTo('/sign-in');
  const role = operatorRoleOf(signedIn.account);
  if (role !== undefined && isSsoMissing(signedIn.account, rules)) {
    const home = { path: '/account/sso', name: 'Link your account' };
    return refusalPage({ home, frame }, refuse('FORBIDDEN', TEXTS.needsSso(rules.onlySso?.name ?? '')));
  }
  if (role !== undefined && isFactorMissing(signedIn.account, rules)) {
    if (exchange.path === '/ops') return redirectTo('/account/second-factor'); // Where they land after the sign-in.
    const home = { path: '/account/second-factor', name: 'Add a second factor' };
    return refusalPage({ home, frame }, refuse('FORBIDDEN', TEXTS.needsFactor));
  }
  const access = operatorAccessOf(`${method} ${exchange.path}`);
  const refusal = operatorRefusal(signedIn, access, rules);
  if (refusal !== undefined || role === undefined) {
    if (refusal !== undefined && role !== undefined && sent !== undefined && isOnlyUnproved(signedIn, access)) {
      return showUnsent({ frame }, request, { ...sent, refusal });
    }
    const home =
      role === undefined ? { path: '/console', name: 'Go to your apps' } : { path: '/ops', name: TEXTS.console };
    return refusalPage({ home, frame }, refusal ?? refuse('FORBIDDEN', TEXTS.tooLow));
  }
  return show(requestOf(services, request, signedIn, role));
}

function requestOf(services: OpsServices, request: PageRequest, signedIn: SignedIn, role: OperatorRole): OpsRequest {
  const { operator, rules, currency } = services;
  const { exchange, query, formats } = request;
  const { accountId, email } = signedIn.account;
  const show = (page: OpsPageParts) => showOpsPage({ ...services, request, role }, page);
  return {
    ...services,
    request,
    signedIn,
    role,
    query,
    formats,
    asks: (name) => query.get(name)?.trim() ?? '',
    act: (reason) => ({
      actor: accountId,
      actorName: email,
      from: operator.addressOf(exchange.request),
      reason,
      limits: operator.limits,
    }),
    may: (page) => isAtLeastOperator(role, accessTo(page).least),
    mayOpen: (page) => mayOpen(role, page),
    form: (page, fields, { query: of = {}, hasFile = false } = {}) => {
      if (!isAtLeastOperator(role, accessTo(page).least)) return html`<p class="soft">${TEXTS.tooLow}</p>`;
      if (operatorRefusal(signedIn, accessTo(page), rules) !== undefined) {
        return html`<p class="soft">${TEXTS.proveFirst}</p>\n${buttonLink(toProof(exchange.path, exchange.query), TEXTS.prove)}`;
      }
      const action = typeof of === 'string' ? `${opsPath(page)}?${of}` : opsPath(page, of);
      return request.form(action, fields, { hasFile });
    },
    show,
    showNoSuch: (below, message, title = 'Not found') => {
      const body = card(html`<p role="alert">${message}</p>`);
      return show({ title, body, below, refusal: refuse('NOT_FOUND', message), isSaid: true });
    },
    moment: (epochMs) => moment(epochMs, formats),
    amount: (amount, of = currency) => formats.amount(micros(amount), of),
    link: (entity, name) => entityLink(role, entity, name),
    appLink: (appId, names) => appLink(role, appId, names),
  };
}

/** A form that was sent, and the page that has it if that is not the page it was sent to. */
interface Sent {
  readonly form: Form;
  readonly page: string | undefined;
}

/**
 * The page in place of an act whose form came without a fresh proof: ten minutes may pass while somebody types. It carries
 * everything that was sent, so nothing has to be typed again, and nothing of it is in an address.
 */
function showUnsent(
  { frame }: Pick<OpsServices, 'frame'>,
  request: PageRequest,
  { form, page, refusal }: Sent & { readonly refusal: Refusal },
): PageResponse {
  const { path, query } = request.exchange;
  const withQuery = (to: string) => `${to}${query === '' ? '' : `?${query}`}`;
  const kept = [...form.fields].filter(([name]) => name !== PROOF_FIELD);
  const fields = html`${kept.map(([name, value]) => html`${hiddenField(name, value)}\n`)}
${form.fileNames.map((name) => html`<label for="file-${name}">${TEXTS.fileAgain}</label>\n<input id="file-${name}" name="${name}" type="file">\n`)}
${button('Send it now')}`;
  const body = card(
    html`<p role="alert">${TEXTS.unsent}</p>`,
    buttonLinkAside(toProof(PROVE, 'done=true'), TEXTS.prove),
    request.form(withQuery(path), fields, { hasFile: form.fileNames.length > 0 }),
    linkLine(withQuery(page ?? path), 'Go back without sending it'),
  );
  return refusedBy(refusal, pageOf({ title: 'Not done yet', body, frame, isError: true }));
}

/** Who may send a form to a page. */
function accessTo(page: string): OperatorAccess {
  return operatorAccessOf(`POST /ops/${page}`);
}

/** A fresh proof is all that is missing. */
function isOnlyUnproved({ account, isProved }: SignedIn, { least, needsProof }: OperatorAccess): boolean {
  const role = operatorRoleOf(account);
  return role !== undefined && isAtLeastOperator(role, least) && needsProof === true && !isProved;
}

const PROVE = '/account/prove';

/** Leads back to the page that asked for the proof. In a tab of its own, it leads to a page that says to go back to the other one. */
function toProof(path: string, query: string): string {
  return `${PROVE}?then=${encodeURIComponent(`${path}${query === '' ? '' : `?${query}`}`)}`;
}
