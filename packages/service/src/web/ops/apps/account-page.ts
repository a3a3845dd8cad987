import { checkFields } from '@purser/contract/check-fields.ts';
import { accountId as accountIdOf } from '@purser/contract/identifiers.ts';
import { changeAnyAccountSchema } from '@purser/contract/operator-accounts.ts';
import { operatorRoleOf } from '#developers/operators/role.ts';
import type { Account } from '#developers/sessions/session.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { button } from '#web/components/button.ts';
import { confirmation } from '#web/components/confirm.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { moment } from '#web/figures/moment.ts';
import { errorSummary, successNotice } from '#web/components/notices.ts';
import { section } from '#web/components/section.ts';
import { selectField } from '#web/fields/select-field.ts';
import { table } from '#web/figures/table.ts';
import { textField } from '#web/fields/text-field.ts';
import type { PageMethods, PageResponse } from '#web/frame/page.ts';
import type { Form } from '#web/forms/read-form.ts';
import { redirectTo } from '#web/frame/responses.ts';
import { forOperator, type OpsRequest } from '#web/ops/frame/for-operator.ts';
import { showNoSuch, showOpsPage } from '#web/ops/frame/ops-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';
import { thingLink } from '#web/ops/frame/links.ts';
import { factorOf, stateOf } from '#web/ops/apps/accounts-page.ts';
import { stateOf as stateOfApp } from '#web/ops/apps/apps-page.ts';
import { roleChoices, roleFields } from '#web/ops/apps/roles.ts';
import { ACCOUNT_TEXTS as TEXTS, ACCOUNTS_TEXTS } from '#web/ops/apps/texts.ts';
import { trailSection } from '#web/ops/apps/trail.ts';

const FIELD_NAMES = { role: ACCOUNTS_TEXTS.role, operatorRole: ACCOUNTS_TEXTS.role, reason: TEXTS.reason };

/**
 * Makes the page `/ops/account?id=`, which shows one account. Its forms do what the route for operators does, one act
 * at a time.
 */
export function accountPage(services: OpsServices): PageMethods {
  return forOperator(services, {
    GET: (asked) => showAccount(services, asked),
    POST: async (asked, form) => {
      const done = await act(services, asked, form);
      if (done instanceof Refusal) return showAccount(services, asked, { refusal: done, form });
      return redirectTo(opsPath('account', { id: idOf(asked), done }));
    },
  });
}

function idOf({ request }: OpsRequest): string {
  return request.query.get('id')?.trim() ?? '';
}

/** What each act is as a request of the API. */
const CHANGES: Readonly<Record<string, (form: Form) => object>> = {
  role: (form) => roleFields(form.field('role')),
  disable: () => ({ disabled: true }),
  enable: () => ({ disabled: false }),
  vouch: () => ({ emailVerified: true }),
  factor: () => ({ secondFactor: 'none' }),
  unlink: () => ({ sso: 'none' }),
};

async function act({ operator: { accounts } }: OpsServices, asked: OpsRequest, form: Form): Promise<string | Refusal> {
  const which = form.field('act');
  const change = Object.hasOwn(CHANGES, which) ? CHANGES[which]?.(form) : undefined;
  if (change === undefined) return refuse('BAD_REQUEST', TEXTS.unfit);
  const typed = { ...change, reason: form.field(`reason-${which}`) };
  const checked = checkFields(changeAnyAccountSchema, typed, FIELD_NAMES);
  if ('problems' in checked) return refuse('BAD_REQUEST', checked.problems.map(({ message }) => message).join(' '));
  const { role, operatorRole, disabled, emailVerified, secondFactor, sso, reason } = checked.value;
  const done = await accounts.change(asked.act(reason), accountIdOf.parse(idOf(asked)), {
    role,
    operatorRole,
    isDisabled: disabled,
    isEmailVerified: emailVerified,
    secondFactor,
    sso,
  });
  return done instanceof Refusal ? done : which;
}

async function showAccount(
  services: OpsServices,
  asked: OpsRequest,
  again?: { readonly refusal: Refusal; readonly form: Form },
): Promise<PageResponse> {
  const { operator } = services;
  const account = await operator.accounts.find(accountIdOf.parse(idOf(asked)));
  if (account === undefined) {
    return showNoSuch(services, asked, { message: TEXTS.noSuch, page: 'accounts', above: ACCOUNTS_TEXTS.title });
  }
  const { accountId } = account;
  const [apps, on, by] = await Promise.all([
    operator.accounts.appsOf(accountId),
    trailSection(services, asked, 'on', { subject: accountId }),
    trailSection(services, asked, 'by', { who: accountId }),
  ]);
  const appTable = table({
    caption: html`<span class="soft">${TEXTS.appsWhat}</span>`,
    columns: TEXTS.appColumns.map((name) => ({ name })),
    rows: apps.map((app) => [
      html`${app.name}<br>${thingLink(asked.role, { kind: 'app', id: app.appId })}`,
      app.role,
      stateOfApp(app),
    ]),
    empty: TEXTS.noApps,
  });
  const body = html`${errorSummary(again?.refusal.message)}${successNotice(TEXTS.done.get(asked.request.query.get('done')))}
<div class="columns">
${section({ id: 'facts', heading: TEXTS.facts, body: [factsOf(asked, account)] })}
${section({ id: 'acts', heading: TEXTS.acts, body: [actsOn(asked, account, again?.form)] })}
</div>
${section({ id: 'apps', heading: TEXTS.apps, body: [appTable] })}
${on}
${by}`;
  const page = { title: account.email, body, page: 'accounts', above: ACCOUNTS_TEXTS.title };
  return showOpsPage(services, asked, { ...page, refusal: again?.refusal });
}

function factsOf({ request: { formats } }: OpsRequest, account: Account): Html {
  const { accountId, name, createdAtMs } = account;
  const [, roleName, state, factor, created] = ACCOUNTS_TEXTS.columns;
  return definitionList([
    [TEXTS.accountId, html`<code>${accountId}</code>`],
    name === undefined ? undefined : [ACCOUNTS_TEXTS.name, name],
    [roleName, ACCOUNTS_TEXTS.roles[operatorRoleOf(account) ?? 'owner']],
    [state, stateOf(account)],
    [factor, factorOf(account)],
    [created, moment(createdAtMs, formats)],
  ]);
}

/** The acts that would change something. Without the role or a fresh proof, what stands in their place is said once. */
function actsOn(asked: OpsRequest, account: Account, form: Form | undefined): Html {
  const { email, isDisabled, isEmailVerified, hasSecondFactor, isSso } = account;
  const query = `id=${encodeURIComponent(account.accountId)}`;
  const proved = asked.form('account', html``, { query });
  if (!proved.text.startsWith('<form')) return proved;
  const role = operatorRoleOf(account) ?? 'owner';
  const choices = roleChoices(form?.field('act') === 'role' ? form.field('role') : role);
  const field = selectField({ name: 'role', label: ACCOUNTS_TEXTS.role, choices });
  const one = (which: Act, what: string, isDanger: boolean, more?: Html): Html => {
    const name = `reason-${which}`;
    const reason = textField({
      name,
      label: TEXTS.reason,
      value: form?.field(name) ?? '',
      lengthMax: 500,
      isRequired: true,
    });
    const kind = isDanger ? ({ kind: 'danger' } as const) : {};
    const fields = html`${more}\n${reason}\n${button(TEXTS[which], { ...kind, name: 'act', value: which })}`;
    return confirmation({ act: TEXTS[which], what, form: asked.form('account', fields, { query }) });
  };
  return html`${one('role', TEXTS.roleWhat, false, field)}
${isDisabled ? one('enable', TEXTS.enableWhat(email), false) : one('disable', TEXTS.disableWhat(email), true)}
${isEmailVerified ? undefined : one('vouch', TEXTS.vouchWhat(email), false)}
${hasSecondFactor ? one('factor', TEXTS.factorWhat(email), true) : undefined}
${isSso ? one('unlink', TEXTS.unlinkWhat(email), true) : undefined}`;
}

type Act = 'role' | 'disable' | 'enable' | 'vouch' | 'factor' | 'unlink';
