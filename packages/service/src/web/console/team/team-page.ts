import { APP_ROLES, type AppRole } from '@purser/contract/access.ts';
import { inviteSchema, memberParamsSchema } from '@purser/contract/team.ts';
import type { Invitation, Member } from '#developers/teams/team.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { confirmation, errorSummary, successNotice } from '#web/components/notices.ts';
import { button, card, section } from '#web/components/parts.ts';
import { moment, table } from '#web/figures/figures.ts';
import { hiddenField, selectField, textField } from '#web/fields/fields.ts';
import { type AppRequest, forApp, showAppPage } from '#web/console/frame/app-page.ts';
import { TEAM_TEXTS as TEXTS } from '#web/console/team/texts.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';
import type { Form } from '#web/forms/form.ts';

/** Shows at `/console/:part/team` the members of an app, and invitations. Each form does what a route does. */
export const teamPage = forApp({
  GET: (asked) => showTeam(asked),
  POST: async (asked, form) => {
    const done = await act(asked, form);
    return done instanceof Refusal ? showTeam(asked, done) : redirectTo(asked.to('team', { done }));
  },
});

/** Ends one's own membership at `/console/:part/leave`. */
export const leaveForm = forApp({
  GET: (asked) => redirectTo(asked.to('team')),
  POST: async (asked) => {
    const left = await asked.services.teams.remove(asked.owner, asked.app.appId, asked.owner.accountId);
    return left instanceof Refusal ? showTeam(asked, left) : redirectTo('/console');
  },
});

async function act({ services: { teams }, owner, app }: AppRequest, form: Form): Promise<string | Refusal> {
  const { accountId } = memberParamsSchema.parse({ appId: app.appId, accountId: form.field('member') });
  const typed = inviteSchema.safeParse({ email: form.field('email').trim(), role: form.field('role') });
  switch (form.field('act')) {
    case 'remove': {
      const removed = await teams.remove(owner, app.appId, accountId);
      if (removed instanceof Refusal) return removed;
      return removed ? 'removed' : refuse('NOT_FOUND', TEXTS.noSuch);
    }
    case 'withdraw':
      return (await teams.withdraw(owner, app.appId, form.field('invitation')))
        ? 'withdrawn'
        : refuse('NOT_FOUND', TEXTS.noSuch);
    case 'role': {
      const role = APP_ROLES.find((one) => one === form.field('role'));
      if (role === undefined) return refuse('BAD_REQUEST', TEXTS.unfit);
      const changed = await teams.changeRole(owner, app.appId, { accountId, role });
      if (changed instanceof Refusal) return changed;
      return changed === undefined ? refuse('NOT_FOUND', TEXTS.noSuch) : 'role';
    }
    default: {
      if (!typed.success) return refuse('BAD_REQUEST', TEXTS.unfit);
      const sent = await teams.invite(owner, app, typed.data);
      return sent instanceof Refusal ? sent : 'invited';
    }
  }
}

async function showTeam(asked: AppRequest, refusal?: Refusal): Promise<PageResponse> {
  const { services, request, app, to, may, owner } = asked;
  const { members, invitations } = await services.teams.list(app.appId);
  const at = (epochMs: number) => html`${moment(epochMs, request.formats)}`;
  const rows = members.map((member) => [
    html`${member.email}${member.accountId === owner.accountId ? ` (${TEXTS.you})` : ''}`,
    TEXTS.roles[member.role],
    at(member.sinceMs),
    ...(may('team') ? [member.accountId === owner.accountId ? TEXTS.own : changeOf(asked, member)] : []),
  ]);
  const pending = invitations.map((one) => [
    one.email,
    TEXTS.roles[one.role],
    at(one.expiresAtMs),
    ...(may('team') ? [withdrawOf(asked, one)] : []),
  ]);
  const columnsOf = (names: readonly string[]) => names.slice(0, may('team') ? 4 : 3).map((name) => ({ name }));
  const leave = request.form(to('leave'), button(TEXTS.leave, { kind: 'danger' }));
  const body = html`${errorSummary(refusal?.message)}${successNotice(TEXTS.done.get(request.query.get('done')))}
<p class="soft">${TEXTS.what}</p>
${card(table({ caption: TEXTS.members, columns: columnsOf(TEXTS.columns), rows, empty: '' }))}
${card(table({ caption: TEXTS.pending, columns: columnsOf(TEXTS.pendingColumns), rows: pending, empty: TEXTS.nobody }))}
${may('team') ? section({ id: 'invite', heading: TEXTS.invite, body: [inviteForm(asked)] }) : asked.tooLow()}
${confirmation({ act: TEXTS.leave, what: TEXTS.leaveWhat, form: leave })}`;
  return showAppPage(asked, { title: TEXTS.title, body, page: 'team', refusal });
}

/** A member's other roles, and the way out. Each says what it does and asks once more. */
function changeOf({ request, to }: AppRequest, { accountId, email, role }: Member): Html {
  const named = hiddenField('member', accountId);
  const others = APP_ROLES.filter((one) => one !== role);
  const roles = others.map((one) => {
    const act = TEXTS.make(TEXTS.roles[one]);
    const fields = html`${named}${hiddenField('role', one)}${button(act, { name: 'act', value: 'role' })}`;
    return confirmation({ act, what: TEXTS.makeWhat(email, one), form: request.form(to('team'), fields) });
  });
  const fields = html`${named}${button(TEXTS.remove, { kind: 'danger', name: 'act', value: 'remove' })}`;
  const removal = request.form(to('team'), fields);
  return html`<details><summary>${TEXTS.change(email)}</summary>
${roles}
${confirmation({ act: TEXTS.remove, what: TEXTS.removeWhat(email), form: removal })}
</details>`;
}

function withdrawOf({ request, to }: AppRequest, { invitationId, email }: Invitation): Html {
  const fields = html`${hiddenField('invitation', invitationId)}${button(TEXTS.withdraw, { kind: 'danger', name: 'act', value: 'withdraw' })}`;
  return confirmation({
    act: TEXTS.withdrawOf(email),
    what: TEXTS.withdrawWhat,
    form: request.form(to('team'), fields),
  });
}

function inviteForm({ request, to }: AppRequest): Html {
  const roles: readonly AppRole[] = APP_ROLES;
  const fields = html`${textField({ name: 'email', label: TEXTS.email, type: 'email', lengthMax: 254, isRequired: true })}
${selectField({ name: 'role', label: TEXTS.role, hint: TEXTS.roleHint, choices: roles.map((value) => ({ value, text: TEXTS.roles[value] })) })}
${button(TEXTS.send, { name: 'act', value: 'invite' })}`;
  return request.form(to('team'), fields);
}
