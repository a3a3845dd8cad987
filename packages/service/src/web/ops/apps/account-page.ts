import { accountId as accountIdOf } from '@purser/contract/identifiers.ts';
import { changeAnyAccountSchema } from '@purser/contract/operator-accounts.ts';
import { operatorRoleOf } from '#developers/operators/role.ts';
import type { Account } from '#developers/sessions/session.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { button } from '#web/components/button.ts';
import { confirmation } from '#web/components/confirm.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { selectField } from '#web/fields/select-field.ts';
import { checked } from '#web/forms/checked.ts';
import type { Form } from '#web/forms/read-form.ts';
import { actPage, reasonField } from '#web/ops/frame/act-page.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { code, listing, part } from '#web/ops/frame/details.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { OPS_TEXTS } from '#web/ops/frame/texts.ts';
import { factorOf, roleChoices, roleFields, stateOf } from '#web/ops/apps/accounts-page.ts';
import { stateOf as stateOfApp } from '#web/ops/apps/apps-page.ts';
import { ACCOUNT_TEXTS as TEXTS, ACCOUNTS_TEXTS } from '#web/ops/apps/texts.ts';
import { trailPart } from '#web/ops/apps/trail.ts';

const LABELS = { role: ACCOUNTS_TEXTS.role, operatorRole: ACCOUNTS_TEXTS.role, reason: OPS_TEXTS.reason };

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
    const done = TEXTS.done.get(asked.asks('done'));
    return asked.show({ title: account.email, body, below: 'accounts', refusal: again?.refusal, done });
  },
  act: async (asked, form) => {
    const which = form.field('act');
    const change = Object.hasOwn(CHANGES, which) ? CHANGES[which]?.(form) : undefined;
    if (change === undefined) return refuse('BAD_REQUEST', 'Choose what to do.');
    const given = checked(changeAnyAccountSchema, { ...change, reason: form.field(`reason-${which}`) }, LABELS);
    if (given instanceof Refusal) return given;
    const { reason, ...wanted } = given;
    const done = await asked.operator.accounts.change(asked.act(reason), idOf(asked), wanted);
    return done instanceof Refusal ? done : opsPath('account', { id: asked.asks('id'), done: which });
  },
});

function idOf({ asks }: OpsRequest) {
  return accountIdOf.parse(asks('id'));
}

function factsOf({ moment }: OpsRequest, account: Account): Html {
  const { accountId, name, createdAtMs } = account;
  const [, roleName, state, factor, created] = ACCOUNTS_TEXTS.columns;
  return definitionList([
    ['Account ID', code(accountId)],
    name === undefined ? undefined : [ACCOUNTS_TEXTS.name, name],
    [roleName, ACCOUNTS_TEXTS.roles[operatorRoleOf(account) ?? 'owner']],
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
  const field = selectField({ name: 'role', label: ACCOUNTS_TEXTS.role, choices });
  const one = (which: Act, what: string, isDanger: boolean, more?: Html): Html => {
    const name = `reason-${which}`;
    const kind = isDanger ? ({ kind: 'danger' } as const) : {};
    const fields = html`${more}\n${reasonField({ name, value: form?.field(name) })}\n${button(TEXTS[which], { ...kind, name: 'act', value: which })}`;
    return confirmation({ act: TEXTS[which], what, form: asked.form('account', fields, { query }) });
  };
  return html`${one('role', TEXTS.roleWhat, false, field)}
${isDisabled ? one('enable', TEXTS.enableWhat(email), false) : one('disable', TEXTS.disableWhat(email), true)}
${isEmailVerified ? undefined : one('vouch', TEXTS.vouchWhat(email), false)}
${hasSecondFactor ? one('factor', TEXTS.factorWhat(email), true) : undefined}
${isSso ? one('unlink', TEXTS.unlinkWhat(email), true) : undefined}`;
}
