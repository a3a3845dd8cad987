import { OPERATOR_ROLES, type OperatorRole } from '@purser/contract/operator-access.ts';
import { newAnyAccountSchema } from '@purser/contract/operator-accounts.ts';
import { operatorRoleOf } from '#developers/operators/role.ts';
import type { Account } from '#developers/sessions/session.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import { badge } from '#web/components/badge.ts';
import { button } from '#web/components/button.ts';
import { selectField } from '#web/fields/select-field.ts';
import { textField } from '#web/fields/text-field.ts';
import { checked } from '#web/forms/checked.ts';
import type { Form } from '#web/forms/read-form.ts';
import { actPage, reasonField, reasonIn } from '#web/ops/frame/act-page.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { part } from '#web/ops/frame/details.ts';
import { type ListPage, showList } from '#web/ops/frame/list-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { ACCOUNTS_TEXTS as TEXTS } from '#web/ops/apps/texts.ts';

const PAGE_LENGTH = 50;
const LABELS = { email: TEXTS.email, name: TEXTS.name, password: TEXTS.password, role: TEXTS.role };

const LIST: ListPage<never, Account> = {
  page: 'accounts',
  title: 'Accounts',
  above: () => html`<p class="soft">To find an account, type its e-mail address into the search.</p>`,
  fields: () => ({}),
  cursor: { name: 'after', first: 'First page', more: 'More accounts' },
  read: async ({ operator }, _typed, after) => {
    const { accounts, next } = await operator.accounts.list({ after, most: PAGE_LENGTH });
    return { rows: accounts, next };
  },
  caption: 'Oldest first',
  columns: () => TEXTS.columns,
  cells: cellsOf,
  empty: () => 'There are no accounts.',
  after: (asked, _typed, again) => part('create', 'Create an account', createForm(asked, again?.form)),
};

/** The page `/ops/accounts`, which lists all accounts and has a form for a new one. */
export const accountsPage = actPage({
  show: (asked, again) => showList(LIST, asked, again),
  act: async (asked, form) => {
    const name = form.field('name').trim();
    const typed = {
      email: form.field('email').trim(),
      password: form.field('password'),
      ...(name === '' ? {} : { name }),
      ...roleFields(form.field('role')),
    };
    const given = checked(newAnyAccountSchema, typed, LABELS);
    if (given instanceof Refusal) return given;
    const reason = reasonIn(form, 'Give a reason for the audit trail.', 'reason-create');
    if (reason instanceof Refusal) return reason;
    const made = await asked.operator.accounts.create(asked.act(reason), { name: undefined, ...given });
    return made instanceof Refusal ? made : opsPath('account', { id: made.accountId, done: 'created' });
  },
});

function createForm(asked: OpsRequest, form: Form | undefined): Html {
  const value = (name: string) => form?.field(name) ?? '';
  const fields = html`<p class="soft">${TEXTS.createWhat}</p>
${textField({ name: 'email', label: TEXTS.email, value: value('email'), type: 'email', lengthMax: 254, autocomplete: 'off', isRequired: true })}
${textField({ name: 'name', label: TEXTS.name, value: value('name'), lengthMax: 100, autocomplete: 'off' })}
${textField({ name: 'password', label: TEXTS.password, type: 'password', hint: TEXTS.passwordHint, lengthMin: 10, lengthMax: 256, autocomplete: 'new-password', isRequired: true })}
${selectField({ name: 'role', label: TEXTS.role, choices: roleChoices(form === undefined ? 'owner' : value('role')) })}
${reasonField({ name: 'reason-create', value: value('reason-create') })}
${button('Create the account')}`;
  return asked.form('accounts', fields);
}

function cellsOf({ moment }: OpsRequest, account: Account): readonly (Html | string)[] {
  const { accountId, email, name, createdAtMs } = account;
  return [
    html`<a href="${opsPath('account', { id: accountId })}">${email}</a>${name === undefined ? undefined : html`<br>${name}`}`,
    TEXTS.roles[operatorRoleOf(account) ?? 'owner'],
    stateOf(account),
    factorOf(account),
    moment(createdAtMs),
  ];
}

/** Whether somebody can sign in, and whether their mail address is proved. */
export function stateOf({ isDisabled, isEmailVerified }: Account): Html {
  if (isDisabled) return badge(TEXTS.states.disabled, 'warn');
  return isEmailVerified ? badge(TEXTS.states.active, 'good') : badge(TEXTS.states.unverified, 'warn');
}

/** An operator without a second factor stands out. */
export function factorOf({ role, hasSecondFactor, isSso }: Account): Html | string {
  if (isSso) return 'checked by the provider';
  if (hasSecondFactor) return 'on';
  return role === 'operator' ? badge(TEXTS.off, 'warn') : TEXTS.off;
}

const ROLES: readonly (OperatorRole | 'owner')[] = ['owner', ...OPERATOR_ROLES];

/** Both roles of an account as one choice: `owner`, or the role among operators. */
export function roleChoices(chosen: string) {
  return ROLES.map((value) => ({ value, text: TEXTS.roles[value], isChosen: value === chosen }));
}

/** What a choice means in a request. A text that is no choice is given as it is, for the schema to refuse. */
export function roleFields(choice: string) {
  const operatorRole = OPERATOR_ROLES.find((role) => role === choice);
  return operatorRole === undefined ? { role: choice } : { role: 'operator', operatorRole };
}
