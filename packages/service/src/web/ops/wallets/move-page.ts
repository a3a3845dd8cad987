import { checkFields } from '@purser/contract/check-fields.ts';
import { moveIdentitySchema } from '@purser/contract/operator-people.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { WalletOwner } from '#operator/people/wallet-owners.ts';
import { button } from '#web/components/button.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { filterForm } from '#web/fields/filter.ts';
import { paragraphs } from '#web/components/list.ts';
import { errorSummary } from '#web/components/notices.ts';
import { section } from '#web/components/section.ts';
import { textField } from '#web/fields/text-field.ts';
import type { PageMethods, PageResponse } from '#web/frame/page.ts';
import type { Form } from '#web/forms/read-form.ts';
import { redirectTo } from '#web/frame/responses.ts';
import { forOperator, type OpsRequest } from '#web/ops/frame/for-operator.ts';
import { showOpsPage } from '#web/ops/frame/ops-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';
import { personWith } from '#web/ops/wallets/person-page.ts';
import { PERSON_TEXTS as TEXTS } from '#web/ops/wallets/texts.ts';

const REASON_LENGTH_MAX = 500;

/**
 * Makes the page `/ops/person-move?email=&to=`, which gives a person another e-mail, and first shows what that will do
 * (WA-15).
 */
export function movePage(services: OpsServices): PageMethods {
  return forOperator(services, {
    GET: (asked) => show(services, asked),
    POST: (asked, form) => done(services, asked, form),
  });
}

interface Asked {
  readonly email: string;
  readonly to: string;
}

function askedIn({ request: { query } }: OpsRequest): Asked {
  return { email: query.get('email')?.trim() ?? '', to: query.get('to')?.trim() ?? '' };
}

/** The person, and what they would be. `after` is undefined as long as no new e-mail was typed. */
interface Move {
  readonly before: WalletOwner;
  readonly after: WalletOwner | undefined;
  readonly ends: Awaited<ReturnType<OpsServices['operator']['walletOwners']['waysIn']>>;
}

async function previewed(services: OpsServices, asked: OpsRequest): Promise<Move | Refusal> {
  const { email, to } = askedIn(asked);
  const before = await personWith(services, email);
  if (before instanceof Refusal) return before;
  const ends = await services.operator.walletOwners.waysIn(before.identityId);
  if (to === '') return { before, after: undefined, ends };
  const after = await services.operator.previews.identityMove(asked.act(undefined), before.identityId, to);
  return after instanceof Refusal ? after : { before, after, ends };
}

interface Again {
  readonly refusal: Refusal;
  readonly reason: string;
}

async function show(services: OpsServices, asked: OpsRequest, again?: Again): Promise<PageResponse> {
  const { email, to } = askedIn(asked);
  const move = await previewed(services, asked);
  const refusal = again?.refusal ?? (move instanceof Refusal ? move : undefined);
  const body = html`${errorSummary(refusal?.message)}<p class="soft">${TEXTS.moveWhat}</p>
${filterForm(opsPath('person-move'), 'live', [{ name: 'to', label: TEXTS.to, value: to }], { email })}
${move instanceof Refusal || move.after === undefined ? undefined : effectsOf(asked, { ...move, after: move.after }, again?.reason ?? '')}`;
  return showOpsPage(services, asked, {
    title: TEXTS.move,
    body,
    page: 'person',
    above: TEXTS.title,
    refusal,
  });
}

function effectsOf(
  asked: OpsRequest,
  { before, after, ends }: Move & { readonly after: WalletOwner },
  reason: string,
): Html {
  const { formats } = asked.request;
  if (before.email === after.email) return section({ id: 'effects', heading: TEXTS.effects, body: [TEXTS.same] });
  const facts = definitionList([
    [TEXTS.now, before.email],
    [TEXTS.afterwards, after.email],
    [TEXTS.wallets, TEXTS.kept(formats.count(after.wallets.length))],
  ]);
  const fields = html`${textField({ name: 'reason', label: TEXTS.reason, value: reason, lengthMax: REASON_LENGTH_MAX, isRequired: true, autocomplete: 'off' })}
${button(TEXTS.button, { kind: 'danger' })}`;
  const query = opsPath('', { ...askedIn(asked) }).split('?')[1] ?? '';
  return section({
    id: 'effects',
    heading: TEXTS.effects,
    body: [
      facts,
      paragraphs([TEXTS.willEnd(formats.count(ends.sessions), formats.count(ends.passkeys)), TEXTS.mails]),
      asked.form('person-move', fields, { query }),
    ],
  });
}

async function done(services: OpsServices, asked: OpsRequest, form: Form): Promise<PageResponse> {
  const { email, to } = askedIn(asked);
  const again = (refusal: Refusal) => show(services, asked, { refusal, reason: form.field('reason') });
  const checked = checkFields(
    moveIdentitySchema,
    { email: to, reason: form.field('reason') },
    { email: TEXTS.to, reason: TEXTS.reason },
  );
  if ('problems' in checked) {
    return again(refuse('BAD_REQUEST', checked.problems.map(({ message }) => message).join(' ')));
  }
  const moved = opsPath('person', { email: to, done: 'moved' });
  const person = await personWith(services, email);
  if (person instanceof Refusal) {
    // A second copy of the form: nobody has the old e-mail any more, and somebody has the new one.
    return (await personWith(services, to)) instanceof Refusal ? again(person) : redirectTo(moved);
  }
  const { identityId } = person;
  const acted = await services.operator.walletOwners.move(asked.act(checked.value.reason), identityId, to);
  return acted instanceof Refusal ? again(acted) : redirectTo(moved);
}
