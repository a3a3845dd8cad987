import { type Html, html } from '#kernel/text/html.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import type { Holdings } from '#privacy/deletion.ts';
import { list } from '#web/components/list.ts';
import { moment } from '#web/figures/moment.ts';
import { errorSummary } from '#web/components/notices.ts';
import { card, section } from '#web/components/section.ts';
import { table } from '#web/figures/table.ts';
import type { PageMethods, PageResponse } from '#web/frame/page.ts';
import { redirectTo } from '#web/frame/responses.ts';
import { forOperator, type OpsRequest } from '#web/ops/frame/for-operator.ts';
import { showOpsPage } from '#web/ops/frame/ops-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';
import { givenUpIn, givenUpField } from '#web/forms/given-up-balances.ts';
import { emailAsked, personForm, reasonIn } from '#web/ops/wallets/person-act.ts';
import { personWith } from '#web/ops/wallets/person-page.ts';
import { PERSON_TEXTS as TEXTS } from '#web/ops/wallets/texts.ts';

/**
 * Makes the page `/ops/person-delete?email=`, which deletes a person, and first shows what that will do and what stands
 * in its way (CP-12).
 */
export function personDeletePage(services: OpsServices): PageMethods {
  return forOperator(services, {
    GET: (asked) => show(services, asked),
    POST: async (asked, form) => {
      const reason = reasonIn(form);
      if (reason instanceof Refusal) return show(services, asked, reason);
      const gone = opsPath('person', { done: 'deleted' });
      const person = await personWith(services, emailAsked(asked));
      if (person instanceof Refusal) return show(services, asked, person);
      const done = await services.operator.privacy.deleteFor(asked.act(reason), person.identityId, givenUpIn(form));
      return done instanceof Refusal ? show(services, asked, done) : redirectTo(gone);
    },
  });
}

async function show(services: OpsServices, asked: OpsRequest, refused?: Refusal): Promise<PageResponse> {
  const person = await personWith(services, emailAsked(asked));
  const holdings = person instanceof Refusal ? undefined : await services.operator.privacy.holdings(person.identityId);
  const refusal = refused ?? (person instanceof Refusal ? person : undefined);
  const body = html`${errorSummary(refusal?.message)}<p class="soft">${TEXTS.deleteWhat}</p>
${holdings && movesOf(asked, holdings)}
${holdings && (holdings.obstacles.length > 0 ? obstaclesOf(holdings) : effectsOf(asked, holdings))}`;
  return showOpsPage(services, asked, { title: TEXTS.deleteTitle, body, page: 'person', above: TEXTS.title, refusal });
}

/** How the address has changed: after a deletion, nothing says it any more. */
function movesOf(asked: OpsRequest, { moves }: Holdings): Html | undefined {
  if (moves.length === 0) return undefined;
  const rows = moves.map(({ at, before, after }) => [moment(at.getTime(), asked.request.formats), before, after]);
  const columns = TEXTS.moveColumns.map((name) => ({ name }));
  return card(table({ caption: TEXTS.moves, columns, rows, empty: '' }));
}

function obstaclesOf({ obstacles }: Holdings): Html {
  const rows = obstacles.map(({ kind, wallet }) => [
    wallet === undefined
      ? '–'
      : html`<a href="${opsPath('wallet', { app: wallet.appId, user: wallet.userId })}"><code>${wallet.userId}</code></a>`,
    TEXTS.obstacles[kind],
  ]);
  const columns = TEXTS.obstacleColumns.map((name) => ({ name }));
  return card(table({ caption: TEXTS.notYet, columns, rows, empty: '' }));
}

function effectsOf(asked: OpsRequest, { email, wallets, sessions, passkeys, rests }: Holdings): Html {
  const { amount, count } = asked.request.formats;
  const facts = list([
    TEXTS.willRelease(count(wallets.length)),
    TEXTS.willEnd(count(sessions), count(passkeys)),
    ...rests.map(({ balance, currency, userId }) => TEXTS.willGiveUp(amount(balance, currency), userId)),
    TEXTS.untold,
  ]);
  const form = personForm(asked, 'person-delete', TEXTS.deleteButton, { kind: 'danger', more: givenUpField(rests) });
  return section({ id: 'effects', heading: TEXTS.effects, body: [html`<p>${email}</p>`, facts, form] });
}
