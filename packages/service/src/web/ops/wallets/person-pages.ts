import { identityQuerySchema, moveIdentitySchema, personActSchema } from '@purser/contract/operator-people.ts';
import { granted } from '#http/planes/planes.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { WalletOwner } from '#operator/people/wallet-owners.ts';
import { filterForm } from '#web/fields/filter.ts';
import { button, buttonLink, card, definitionList, list, paragraphs, row } from '#web/components/parts.ts';
import { actPage, type Again, reasonField } from '#web/ops/frame/act-page.ts';
import type { OpsPage, OpsRequest } from '#web/ops/frame/asked.ts';
import { code, listing, opsPath, part } from '#web/ops/frame/details.ts';
import { PERSON_TEXTS as TEXTS } from '#web/ops/wallets/texts.ts';
import type { Holdings } from '#privacy/deletion.ts';
import { checked, type Form, givenUpField, givenUpIn } from '#web/forms/form.ts';
import type { PageResponse } from '#web/frame/page.ts';
import { OPS_TEXTS } from '#web/ops/frame/texts.ts';

/** The page `/ops/person?email=`, which shows a person who owns wallets. */
export const personPage: OpsPage = {
  GET: async (asked) => {
    const [email, done] = [asked.asks('email'), asked.asks('done')];
    const found = email === '' ? undefined : await personWith(asked, email);
    const refusal = found instanceof Refusal ? found : undefined;
    const person = found instanceof Refusal ? undefined : found;
    const isMoved = done === 'moved' && person !== undefined;
    const isDeleted = done === 'deleted' && email === '';
    const body = html`<p class="soft">Finds a person who owns wallets by their complete e-mail address.</p>
${filterForm(opsPath('person'), 'live', [{ name: 'email', label: TEXTS.email, value: email }])}
${person && (await personOf(asked, person))}`;
    const said = isMoved ? TEXTS.moved : isDeleted ? TEXTS.deleted : undefined;
    return asked.show({ title: 'Person', body, below: 'wallets', refusal, done: said });
  },
};

/** The person who signs in with this e-mail, by the rules of the route. */
async function personWith({ operator }: OpsRequest, email: string) {
  const asked = checked(identityQuerySchema, { email }, { email: TEXTS.email });
  if (asked instanceof Refusal) return asked;
  return (await operator.walletOwners.find(asked.email)) ?? refuse('NOT_FOUND', 'Nobody signs in with this e-mail.');
}

async function personOf({ operator, may, appLink }: OpsRequest, { identityId, email, wallets }: WalletOwner) {
  const names = await operator.apps.names(wallets.map(({ appId }) => appId));
  const list = listing({
    caption: TEXTS.wallets,
    columns: ['App', 'User'],
    rows: wallets.map(({ appId, userId }) => [
      appLink(appId, names),
      html`<a href="${opsPath('wallet', { app: appId, user: userId })}">${code(userId)}</a>`,
    ]),
    empty: 'They own no wallet.',
  });
  const facts = definitionList([
    [TEXTS.email, email],
    ['Identity', code(identityId)],
  ]);
  const ways = (['person-move', 'person-export', 'person-delete'] as const).filter(may);
  const links = ways.map((page) => buttonLink(opsPath(page, { email }), TEXTS.ways[page], 'quiet'));
  return html`${card(facts, links.length === 0 ? undefined : row(...links))}\n${card(list)}`;
}

interface PersonAct {
  readonly title: string;
  readonly what: string;
  /** What the act will do, with its form. */
  readonly effects: (asked: OpsRequest, person: WalletOwner) => Promise<Html | undefined> | Html;
  readonly act: (
    asked: OpsRequest,
    person: WalletOwner,
    given: { readonly reason: string; readonly form: Form },
  ) => Promise<string | PageResponse | Refusal>;
}

/** An act on a person that the address names by their e-mail. */
function personAct({ title, what, effects, act }: PersonAct): OpsPage {
  return actPage({
    show: async (asked, again) => {
      const person = await personWith(asked, asked.asks('email'));
      const refusal = again?.refusal ?? (person instanceof Refusal ? person : undefined);
      const body = html`<p class="soft">${what}</p>
${person instanceof Refusal ? undefined : await effects(asked, person)}`;
      return asked.show({ title, body, below: 'person', refusal });
    },
    act: async (asked, form) => {
      const given = granted(checked(personActSchema, { reason: form.field('reason') }, { reason: OPS_TEXTS.reason }));
      const person = granted(await personWith(asked, asked.asks('email')));
      return act(asked, person, { reason: given.reason, form });
    },
  });
}

/** The page `/ops/person-export?email=`, which gives everything that is kept about a person as a file (CP-12). */
export const personExportPage = personAct({
  title: 'Export their data',
  what: TEXTS.exportWhat,
  effects: (asked, { email }) => {
    const fields = html`${reasonField({ autocomplete: 'off' })}\n${button('Download the file')}`;
    return card(html`<p>${email}</p>`, asked.form('person-export', fields, { query: { email: asked.asks('email') } }));
  },
  act: async (asked, { identityId }, { reason }) => {
    const pieces = granted(await asked.operator.privacy.exportFor(asked.act(reason), identityId));
    const headers = {
      'content-type': 'application/octet-stream', // Saved, not shown.
      'content-disposition': 'attachment; filename="person.json"',
    };
    return { status: 200, file: { headers, text: pieces } };
  },
});

/**
 * The page `/ops/person-delete?email=`, which deletes a person, and first shows what that will do and what stands
 * in its way (CP-12).
 */
export const personDeletePage = personAct({
  title: 'Delete this person',
  what: TEXTS.deleteWhat,
  effects: async (asked, { identityId }) => {
    const holdings = await asked.operator.privacy.holdings(identityId);
    if (holdings === undefined) return undefined;
    return html`${movesOf(asked, holdings)}
${holdings.obstacles.length > 0 ? obstaclesOf(holdings) : deletionOf(asked, holdings)}`;
  },
  act: async (asked, { identityId }, { reason, form }) => {
    granted(await asked.operator.privacy.deleteFor(asked.act(reason), identityId, givenUpIn(form)));
    return opsPath('person', { done: 'deleted' });
  },
});

/** How the address has changed: after a deletion, nothing says it any more. */
function movesOf({ moment }: OpsRequest, { moves }: Holdings): Html | undefined {
  if (moves.length === 0) return undefined;
  const rows = moves.map(({ at, before, after }) => [moment(at.getTime()), before, after]);
  return card(listing({ caption: 'E-mail changes by operators', columns: ['When', 'From', 'To'], rows }));
}

function obstaclesOf({ obstacles }: Holdings): Html {
  const rows = obstacles.map(({ kind, wallet }) => [
    wallet === undefined
      ? '–'
      : html`<a href="${opsPath('wallet', { app: wallet.appId, user: wallet.userId })}">${code(wallet.userId)}</a>`,
    TEXTS.obstacles[kind],
  ]);
  return card(listing({ caption: 'This person cannot be deleted yet', columns: ['Wallet', 'What to do first'], rows }));
}

function deletionOf(asked: OpsRequest, { email, wallets, sessions, passkeys, rests }: Holdings): Html {
  const { amount, formats, asks } = asked;
  const facts = list([
    `Wallets to be released: ${formats.count(wallets.length)}`,
    TEXTS.willEnd(formats.count(sessions), formats.count(passkeys)),
    ...rests.map(({ balance, currency, userId }) => TEXTS.willGiveUp(amount(balance, currency), userId)),
    'No e-mail is sent, because the address is removed. Tell the person yourself.',
  ]);
  const fields = html`${givenUpField(rests)}${reasonField({ autocomplete: 'off' })}
${button('Delete this person for good', { kind: 'danger' })}`;
  const form = asked.form('person-delete', fields, { query: { email: asks('email') } });
  return part('effects', TEXTS.effects, html`<p>${email}</p>`, facts, form);
}

/** The page `/ops/person-move?email=&to=`, which gives a person another e-mail, and first shows what that will do (WA-15). */
export const personMovePage = actPage({
  show: async (asked, again) => {
    const [email, to] = [asked.asks('email'), asked.asks('to')];
    const effects = await moveEffects(asked, email, to, again);
    const refusal = again?.refusal ?? (effects instanceof Refusal ? effects : undefined);
    const body = html`<p class="soft">${TEXTS.moveWhat}</p>
${filterForm(opsPath('person-move'), 'live', [{ name: 'to', label: TEXTS.to, value: to }], { email })}
${effects instanceof Refusal ? undefined : effects}`;
    return asked.show({ title: 'Move to another e-mail', body, below: 'person', refusal });
  },
  act: async (asked, form) => {
    const [email, to] = [asked.asks('email'), asked.asks('to')];
    const labels = { email: TEXTS.to, reason: OPS_TEXTS.reason };
    const given = granted(checked(moveIdentitySchema, { email: to, reason: form.field('reason') }, labels));
    const moved = opsPath('person', { email: to, done: 'moved' });
    const person = await personWith(asked, email);
    if (person instanceof Refusal) {
      // A second copy of the form: nobody has the old e-mail any more, and somebody has the new one.
      return (await personWith(asked, to)) instanceof Refusal ? person : moved;
    }
    granted(await asked.operator.walletOwners.move(asked.act(given.reason), person.identityId, to));
    return moved;
  },
});

/** What the move will do, with the form that does it. Undefined as long as no new e-mail was typed. */
async function moveEffects(asked: OpsRequest, email: string, to: string, again: Again | undefined) {
  const { operator, formats } = asked;
  const before = await personWith(asked, email);
  if (before instanceof Refusal || to === '') return before instanceof Refusal ? before : undefined;
  const ends = await operator.walletOwners.waysIn(before.identityId);
  const after = await operator.previews.identityMove(asked.act(undefined), before.identityId, to);
  if (after instanceof Refusal) return after;
  if (before.email === after.email) return part('effects', TEXTS.effects, TEXTS.same);
  const facts = definitionList([
    ['Signs in with', before.email],
    ['Will sign in with', after.email],
    [TEXTS.wallets, `${formats.count(after.wallets.length)}, which they keep. The books do not change.`],
  ]);
  const fields = html`${reasonField({ value: again?.form.field('reason'), autocomplete: 'off' })}
${button('Move the person', { kind: 'danger' })}`;
  return part(
    'effects',
    TEXTS.effects,
    facts,
    paragraphs([TEXTS.willEnd(formats.count(ends.sessions), formats.count(ends.passkeys)), TEXTS.mails]),
    asked.form('person-move', fields, { query: { email, to } }),
  );
}
