import { checkFields } from '@purser/contract/check-fields.ts';
import { newAnyAccountSchema } from '@purser/contract/operator-accounts.ts';
import { reason as reasonSchema } from '@purser/contract/operator.ts';
import { operatorRoleOf } from '#developers/operators/role.ts';
import type { Account } from '#developers/sessions/session.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { badge } from '#web/components/badge.ts';
import { button } from '#web/components/button.ts';
import { moment } from '#web/figures/moment.ts';
import { pager } from '#web/components/navigation.ts';
import { errorSummary } from '#web/components/notices.ts';
import { card, section } from '#web/components/section.ts';
import { selectField } from '#web/fields/select-field.ts';
import { table } from '#web/figures/table.ts';
import { textField } from '#web/fields/text-field.ts';
import type { PageMethods, PageResponse } from '#web/frame/page.ts';
import type { Form } from '#web/forms/read-form.ts';
import { redirectTo } from '#web/frame/responses.ts';
import { forOperator, type OpsRequest } from '#web/ops/frame/for-operator.ts';
import { showOpsPage } from '#web/ops/frame/ops-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';
import { roleChoices, roleFields } from '#web/ops/apps/roles.ts';
import { ACCOUNT_TEXTS, ACCOUNTS_TEXTS as TEXTS } from '#web/ops/apps/texts.ts';

const PAGE_LENGTH = 50;
const FIELD_NAMES = { email: TEXTS.email, name: TEXTS.name, password: TEXTS.password, role: TEXTS.role };

/** Makes the page `/ops/accounts`, which lists all accounts and has a form for a new one. */
export function accountsPage(services: OpsServices): PageMethods {
  return forOperator(services, {
    GET: (asked) => showAccounts(services, asked),
    POST: async (asked, form) => {
      const made = await create(services, asked, form);
      if (made instanceof Refusal) return showAccounts(services, asked, { refusal: made, form });
      return redirectTo(opsPath('account', { id: made.accountId, done: 'created' }));
    },
  });
}

async function create(
  { operator: { accounts } }: OpsServices,
  asked: OpsRequest,
  form: Form,
): Promise<Account | Refusal> {
  const name = form.field('name').trim();
  const typed = {
    email: form.field('email').trim(),
    password: form.field('password'),
    ...(name === '' ? {} : { name }),
    ...roleFields(form.field('role')),
  };
  const checked = checkFields(newAnyAccountSchema, typed, FIELD_NAMES);
  if ('problems' in checked) return refuse('BAD_REQUEST', checked.problems.map(({ message }) => message).join(' '));
  const reason = reasonSchema.safeParse(form.field('reason-create'));
  if (!reason.success) return refuse('BAD_REQUEST', ACCOUNT_TEXTS.needsReason);
  return accounts.create(asked.act(reason.data), { name: undefined, ...checked.value });
}

async function showAccounts(
  services: OpsServices,
  asked: OpsRequest,
  again?: { readonly refusal: Refusal; readonly form: Form },
): Promise<PageResponse> {
  const after = asked.request.query.get('after') ?? undefined;
  const { accounts, next } = await services.operator.accounts.list({ after, most: PAGE_LENGTH });
  const shown = table({
    caption: TEXTS.caption,
    columns: TEXTS.columns.map((name) => ({ name })),
    rows: accounts.map((account) => rowOf(asked, account)),
    empty: TEXTS.none,
  });
  const pages = pager({
    newer: after === undefined ? undefined : { href: opsPath('accounts'), text: TEXTS.first },
    older: next === undefined ? undefined : { href: opsPath('accounts', { after: next }), text: TEXTS.more },
  });
  const body = html`${errorSummary(again?.refusal.message)}
<p class="soft">${TEXTS.findHint}</p>
${card(shown, pages)}
${section({ id: 'create', heading: TEXTS.create, body: [createForm(asked, again?.form)] })}`;
  return showOpsPage(services, asked, { title: TEXTS.title, body, page: 'accounts', refusal: again?.refusal });
}

function createForm(asked: OpsRequest, form: Form | undefined): Html {
  const value = (name: string) => form?.field(name) ?? '';
  const fields = html`<p class="soft">${TEXTS.createWhat}</p>
${textField({ name: 'email', label: TEXTS.email, value: value('email'), type: 'email', lengthMax: 254, autocomplete: 'off', isRequired: true })}
${textField({ name: 'name', label: TEXTS.name, value: value('name'), lengthMax: 100, autocomplete: 'off' })}
${textField({ name: 'password', label: TEXTS.password, type: 'password', hint: TEXTS.passwordHint, lengthMin: 10, lengthMax: 256, autocomplete: 'new-password', isRequired: true })}
${selectField({ name: 'role', label: TEXTS.role, choices: roleChoices(form === undefined ? 'owner' : value('role')) })}
${textField({ name: 'reason-create', label: ACCOUNT_TEXTS.reason, value: value('reason-create'), lengthMax: 500, isRequired: true })}
${button(TEXTS.make)}`;
  return asked.form('accounts', fields);
}

function rowOf({ request: { formats } }: OpsRequest, account: Account): readonly (Html | string)[] {
  const { accountId, email, name, createdAtMs } = account;
  return [
    html`<a href="${opsPath('account', { id: accountId })}">${email}</a>${name === undefined ? undefined : html`<br>${name}`}`,
    TEXTS.roles[operatorRoleOf(account) ?? 'owner'],
    stateOf(account),
    factorOf(account),
    moment(createdAtMs, formats),
  ];
}

/** Whether somebody can sign in, and whether their mail address is proved. */
export function stateOf({ isDisabled, isEmailVerified }: Account): Html {
  if (isDisabled) return badge(TEXTS.states.disabled, 'warn');
  return isEmailVerified ? badge(TEXTS.states.active, 'good') : badge(TEXTS.states.unverified, 'warn');
}

/** An operator without a second factor stands out. */
export function factorOf({ role, hasSecondFactor, isSso }: Account): Html | string {
  if (isSso) return TEXTS.byProvider;
  if (hasSecondFactor) return TEXTS.on;
  return role === 'operator' ? badge(TEXTS.off, 'warn') : TEXTS.off;
}
