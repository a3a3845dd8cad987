import { parseAmount } from '#web/components/amount-field.ts';
import { appMark } from '#web/components/app-mark.ts';
import { html } from '#kernel/html.ts';
import { forOwner, nothingHere, toConnection } from '#web/person/own-connection.ts';
import type { PeoplePages } from '#web/person/people-pages.ts';
import { personPage } from '#web/person/person-page.ts';
import { AMOUNT_TEXTS } from '#web/components/texts.ts';
import { WALLET_TEXTS } from '#web/wallet/texts.ts';
import { type PageAnswer, type PageMethods, redirectTo, refusedBy } from '#web/frame/visit.ts';
import { showConnection } from '#web/wallet/wallet-connection.ts';
import type { Person } from '#identities/session.ts';
import { refuse } from '#kernel/refusal.ts';

/** `/wallet/:part/cap`: sets the monthly cap, or removes it. */
export function capPage(pages: PeoplePages): PageMethods<Person> {
  return {
    GET: toConnection,
    POST: forOwner(pages, async (own, form) => {
      const isNone = form.field('none') === 'yes';
      const cap = isNone ? undefined : parseAmount(form.field('cap'));
      if (!isNone && cap === undefined) {
        const fault = AMOUNT_TEXTS.fault;
        const page = await showConnection(pages, own, { fault, cap: form.field('cap') });
        return refusedBy(refuse('BAD_REQUEST', fault), page);
      }
      const isSet = await pages.connections.setCap(own.owner, cap);
      return changed(pages, own.path, isSet, isNone ? 'no-cap' : 'cap');
    }),
  };
}

/** `/wallet/:part/pause`: stops spending for a while, or lets it go on with the cap that was set. */
export function pausePage(pages: PeoplePages): PageMethods<Person> {
  return {
    GET: toConnection,
    POST: forOwner(pages, async ({ owner, path }, form) => {
      const isPaused = form.field('paused') !== 'no';
      const isSet = await pages.connections.setPaused(owner, isPaused);
      return changed(pages, path, isSet, isPaused ? 'paused' : 'resumed');
    }),
  };
}

/** `/wallet/:part/disconnect`: says what it does to the money, then stops spending at once (ON-05). */
export function disconnectPage(pages: PeoplePages): PageMethods<Person> {
  return {
    GET: forOwner(pages, ({ visit, app, path }) => {
      const body = html`<div class="card">
${appMark(app)}
${WALLET_TEXTS.disconnectWhat.map((sentence) => html`<p>${sentence}</p>`)}
<div class="row">
${visit.form(`${path}/disconnect`, html`<button class="danger">${WALLET_TEXTS.disconnectYes}</button>`)}
<a href="${path}">${WALLET_TEXTS.disconnectNo}</a>
</div>
</div>`;
      return { status: 200, page: personPage(pages, { title: WALLET_TEXTS.disconnectTitle(app.name), body }) };
    }),
    POST: forOwner(pages, async ({ owner, path }) => {
      return changed(pages, path, await pages.connections.setConnected(owner, false), 'disconnected');
    }),
  };
}

/** `/wallet/:part/reconnect`: the same wallet, as it was left (ON-05). */
export function reconnectPage(pages: PeoplePages): PageMethods<Person> {
  return {
    GET: toConnection,
    POST: forOwner(pages, async ({ owner, path }) => {
      return changed(pages, path, await pages.connections.setConnected(owner, true), 'reconnected');
    }),
  };
}

/** `/wallet/:part/topup`: the way to the top-up page, for which the owner of a wallet needs no app. */
export function topUpPage(pages: PeoplePages): PageMethods<Person> {
  return {
    GET: toConnection,
    POST: forOwner(pages, ({ connection: { appId, userId } }) =>
      redirectTo(new URL(pages.links.topup({ appId, userId })).pathname),
    ),
  };
}

function changed(pages: PeoplePages, path: string, isChanged: boolean, done: string): PageAnswer {
  return isChanged ? redirectTo(`${path}?done=${done}`) : nothingHere(pages);
}
