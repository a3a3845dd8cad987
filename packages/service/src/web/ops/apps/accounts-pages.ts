import { OPERATOR_ROLES, type OperatorRole } from '@purser/contract/operator-access.ts';
import { changeAnyAccountSchema, newAnyAccountSchema } from '@purser/contract/operator-accounts.ts';
import { accountId as accountIdOf } from '@purser/contract/identifiers.ts';
import { operatorRoleOf } from '#developers/operators/role.ts';
import type { Account } from '#developers/sessions/session.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import { selectField, textField } from '#web/fields/fields.ts';
import { checked, type Form } from '#web/forms/form.ts';
import { actPage, reasonField, reasonIn } from '#web/ops/frame/act-page.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { code, listing, opsPath, part } from '#web/ops/frame/details.ts';
import { type ListPage, showList } from '#web/ops/frame/list-page.ts';
import { ACCOUNTS_TEXTS as TEXTS, ACCOUNT_TEXTS } from '#web/ops/apps/texts.ts';
import { granted } from '#http/planes/planes.ts';
import { confirmation } from '#web/components/notices.ts';
import { badge, button, definitionList } from '#web/components/parts.ts';
import { OPS_TEXTS } from '#web/ops/frame/texts.ts';
import { stateOf as stateOfApp } from '#web/ops/apps/apps-pages.ts';
import { trailPart } from '#web/ops/apps/app-parts.ts';

const PAGE_LENGTH = 50;
const NEW_LABELS = { email: TEXTS.email, name: TEXTS.name, password: TEXTS.password, role: TEXTS.role };

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
    const given = granted(checked(newAnyAccountSchema, typed, NEW_LABELS));
    const reason = reasonIn(form, 'Give a reason for the audit trail.', 'reason-create');
    const made = granted(await asked.operator.accounts.create(asked.act(reason), { name: undefined, ...given }));
    return opsPath('account', { id: made.accountId, done: 'created' });
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
function stateOf({ isDisabled, isEmailVerified }: Account): Html {
  if (isDisabled) return badge(TEXTS.states.disabled, 'warn');
  return isEmailVerified ? badge(TEXTS.states.active, 'good') : badge(TEXTS.states.unverified, 'warn');
}

/** An operator without a second factor stands out. */
function factorOf({ role, hasSecondFactor, isSso }: Account): Html | string {
  if (isSso) return 'checked by the provider';
  if (hasSecondFactor) return 'on';
  return role === 'operator' ? badge(TEXTS.off, 'warn') : TEXTS.off;
}

const ROLES: readonly (OperatorRole | 'owner')[] = ['owner', ...OPERATOR_ROLES];

/** Both roles of an account as one choice: `owner`, or the role among operators. */
function roleChoices(chosen: string) {
  return ROLES.map((value) => ({ value, text: TEXTS.roles[value], isChosen: value === chosen }));
}

/** What a choice means in a request. A text that is no choice is given as it is, for the schema to refuse. */
function roleFields(choice: string) {
  const operatorRole = OPERATOR_ROLES.find((role) => role === choice);
  return operatorRole === undefined ? { role: choice } : { role: 'operator', operatorRole };
}

const LABELS = { role: TEXTS.role, operatorRole: TEXTS.role, reason: OPS_TEXTS.reason };

/** What each act is as a request of the API. */
const CHANGES: Readonly<Record<string, (form: Form) => object>> = {
  role: (form) => roleFields(form.field('role')),
  disable: () => ({ disabled: true }),
  enable: () => ({ disabled: false }),
  vouch: () => ({ emailVerified: true }),
  factor: () => ({ secondFactor: 'none' }),
  unlink: () => ({ sso: 'none' }),
};

/** The page `/ops/account?id=`, which shows one account. Its forms do what the route for operators does, one act at a time. */
export const accountPage = actPage({
  show: async (asked, again) => {
    const account = await asked.operator.accounts.find(idOf(asked));
    if (account === undefined) return asked.showNoSuch('accounts', 'There is no such account.');
    const { accountId } = account;
    const [apps, on, by] = await Promise.all([
      asked.operator.accounts.appsOf(accountId),
      trailPart(asked, 'on', { subject: accountId }),
      trailPart(asked, 'by', { who: accountId }),
    ]);
    const appTable = listing({
      note: 'The apps that it is a member of',
      columns: ['App', 'Role', 'State'],
      rows: apps.map((app) => [
        html`${app.name}<br>${asked.link({ kind: 'app', id: app.appId })}`,
        app.role,
        stateOfApp(app),
      ]),
      empty: 'It is not a member of any app.',
    });
    const body = html`<div class="columns">
${part('facts', 'Facts', factsOf(asked, account))}
${part('acts', 'Change the account', actsOn(asked, account, again?.form))}
</div>
${part('apps', 'Apps', appTable)}
${on}
${by}`;
    return asked.show({
      title: account.email,
      body,
      below: 'accounts',
      refusal: again?.refusal,
      done: ACCOUNT_TEXTS.done,
    });
  },
  act: async (asked, form) => {
    const which = form.field('act');
    const change = Object.hasOwn(CHANGES, which) ? CHANGES[which]?.(form) : undefined;
    if (change === undefined) return refuse('BAD_REQUEST', 'Choose what to do.');
    const given = granted(
      checked(changeAnyAccountSchema, { ...change, reason: form.field(`reason-${which}`) }, LABELS),
    );
    const { reason, ...wanted } = given;
    granted(await asked.operator.accounts.change(asked.act(reason), idOf(asked), wanted));
    return opsPath('account', { id: asked.asks('id'), done: which });
  },
});

function idOf({ asks }: OpsRequest) {
  return accountIdOf.parse(asks('id'));
}

function factsOf({ moment }: OpsRequest, account: Account): Html {
  const { accountId, name, createdAtMs } = account;
  const [, roleName, state, factor, created] = TEXTS.columns;
  return definitionList([
    ['Account ID', code(accountId)],
    name === undefined ? undefined : [TEXTS.name, name],
    [roleName, TEXTS.roles[operatorRoleOf(account) ?? 'owner']],
    [state, stateOf(account)],
    [factor, factorOf(account)],
    [created, moment(createdAtMs)],
  ]);
}

type Act = 'role' | 'disable' | 'enable' | 'vouch' | 'factor' | 'unlink';

/** The acts that would change something. Without the role or a fresh proof, what stands in their place is said once. */
function actsOn(asked: OpsRequest, account: Account, form: Form | undefined): Html {
  const { email, isDisabled, isEmailVerified, hasSecondFactor, isSso } = account;
  const query = { id: account.accountId };
  const proved = asked.form('account', html``, { query });
  if (!proved.text.startsWith('<form')) return proved;
  const role = operatorRoleOf(account) ?? 'owner';
  const choices = roleChoices(form?.field('act') === 'role' ? form.field('role') : role);
  const field = selectField({ name: 'role', label: TEXTS.role, choices });
  const one = (which: Act, what: string, isDanger: boolean, more?: Html): Html => {
    const name = `reason-${which}`;
    const kind = isDanger ? ({ kind: 'danger' } as const) : {};
    const fields = html`${more}\n${reasonField({ name, value: form?.field(name) })}\n${button(ACCOUNT_TEXTS[which], { ...kind, name: 'act', value: which })}`;
    return confirmation({ act: ACCOUNT_TEXTS[which], what, form: asked.form('account', fields, { query }) });
  };
  return html`${one('role', ACCOUNT_TEXTS.roleWhat, false, field)}
${isDisabled ? one('enable', ACCOUNT_TEXTS.enableWhat(email), false) : one('disable', ACCOUNT_TEXTS.disableWhat(email), true)}
${isEmailVerified ? undefined : one('vouch', ACCOUNT_TEXTS.vouchWhat(email), false)}
${hasSecondFactor ? one('factor', ACCOUNT_TEXTS.factorWhat(email), true) : undefined}
${isSso ? one('unlink', ACCOUNT_TEXTS.unlinkWhat(email), true) : undefined}`;
}
