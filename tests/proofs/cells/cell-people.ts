// People who are signed in to one of two cells, and browsers that show pages of both.
import assert from 'node:assert/strict';
import { CELL_REQUEST, createCellRequests } from '../../../packages/service/src/cells/routing/cell-request.ts';
import type { Email } from '../../../packages/service/src/people/email.ts';
import { createPersonSessions, type Person } from '../../../packages/service/src/people/session.ts';
import { systemClock } from '../../../packages/service/src/kernel/time/clock.ts';
import type { ConnectionId } from '../../../packages/service/src/kernel/values/ids.ts';
import { proofsOf } from '../../../packages/service/src/kernel/crypto/keys.ts';
import { type Reply, send } from '../../support/client.ts';
import { connectionsOf } from '../../support/connections.ts';
import { assertPage, type Browser, openBrowser } from '../../support/page.ts';
import { PERSON_COOKIE } from '../../support/people.ts';
import type { CellName, TwoCells } from './two-cells.ts';
import { SHARED_SECRET } from '../../support/keys.ts';

const ORIGINS = { c1: 'https://c1.purser.test', c2: 'https://c2.purser.test' } as const;
const STEPS_MAX = 8;

/** One browser, which shows pages of both cells. */
interface TwoPages {
  readonly c1: Browser;
  readonly c2: Browser;
  /** Opens an address of a cell and goes where it leads. Fails if that is no page of ours. */
  readonly go: (at: CellName, path: string) => Promise<Reply & { readonly at: CellName }>;
}

export type CellPeople = ReturnType<typeof cellPeopleOf>;

/** This is called once by a test file. */
export function cellPeopleOf(cells: TwoCells) {
  const { c1, c2, app } = cells;
  const connections = { c1: connectionsOf(c1.database), c2: connectionsOf(c2.database) };
  let people = 0;

  function openPages(): TwoPages {
    const own = { c1: openBrowser(c1.url, ORIGINS.c1), c2: openBrowser(c2.url, ORIGINS.c2) };
    return {
      ...own,
      go: async (at, path) => {
        let address = ORIGINS[at] + path;
        for (let step = 0; step < STEPS_MAX; step += 1) {
          const cell = cellOf(address);
          const reply = await own[cell].ask(address.slice(ORIGINS[cell].length));
          if (reply.status !== 303) return { ...reply, at: cell };
          address = new URL(reply.headers.get('location') ?? '', ORIGINS[cell]).href;
        }
        return assert.fail(`the way does not end: ${address}`);
      },
    };
  }

  function newEmail(): Email {
    const email = `cell-person-${(people += 1)}@example.test` as Email;
    for (const service of [c1, c2]) service.keepSecret(email);
    return email;
  }

  async function personOf(at: CellName, pages: TwoPages): Promise<Person> {
    const token = pages[at].cookies.get(PERSON_COOKIE) ?? '';
    return (await createPersonSessions(cells[at].database.owner).find(token)) ?? assert.fail(`nobody at ${at}`);
  }

  return {
    openPages,
    /** Makes an e-mail that belongs to nobody. No log of a cell may contain it. */
    newEmail,
    /** Who a browser is signed in as. */
    personOf,
    /** A person who is signed in to one cell only. */
    signedInAt: async (at: CellName, email: Email = newEmail()) => {
      const pages = openPages();
      const { token } = await createPersonSessions(cells[at].database.owner).open(email);
      pages[at].cookies.set(PERSON_COOKIE, token);
      return { pages, email, person: await personOf(at, pages) };
    },
    /** A connected wallet of this person in a cell, with so much in it. */
    walletAt: async (at: CellName, email: Email, amount: number, userLabel = 'Ada') => {
      const user = cells.userOf(at);
      await cells[at].fund(app, user, amount);
      const identity = await connections[at].newIdentity(email);
      const made = await connections[at].connect({ identity, appId: app.appId, user, cap: 9_000_000, userLabel });
      return made.connectionId;
    },
    disconnect: async (at: CellName, pages: TwoPages, connectionId: ConnectionId) => {
      const { identityId } = (await personOf(at, pages)).identity;
      assert.ok(await connections[at].setConnected({ identityId, connectionId }, false));
    },
  };
}

function cellOf(address: string): CellName {
  const found = (['c1', 'c2'] as const).find((cell) => address.startsWith(`${ORIGINS[cell]}/`));
  return found ?? assert.fail(`led away to ${address}`);
}

/** Begins a hand-over from c1 to c2 in a browser. `path`: where c1 is asked. `state`: the digest of the browser's secret. */
export async function beginAtC2({ c2: browser }: TwoPages): Promise<{ readonly state: string; readonly path: string }> {
  const reply = await browser.ask('/wallet/from-cell?from=c1&next=/wallet/passkeys');
  const location = new URL(reply.headers.get('location') ?? '');
  assert.equal(location.origin + location.pathname, `${ORIGINS.c1}/wallet/hand-over`);
  return { state: location.searchParams.get('state') ?? '', path: location.pathname + location.search };
}

/** The page in c2, with a token, to which c1 leads the person who is signed in there. */
export async function arrivalOf(pages: TwoPages, path?: string): Promise<string> {
  const reply = await pages.c1.ask(path ?? (await beginAtC2(pages)).path);
  assertPage(reply, 303); // With the referrer policy: the token in the address gets to no other site.
  const location = reply.headers.get('location') ?? '';
  assert.ok(location.startsWith(`${ORIGINS.c2}/wallet/arrive?token=`), location);
  return location.slice(ORIGINS.c2.length);
}

/** Proofs of gateways with this secret, by default the one that the cells share. */
export const proofsBy = (secret = SHARED_SECRET.PURSER_SECRET) => proofsOf({ secret: Buffer.from(secret) });

/** Asks c1 as a gateway of c2 does. */
export function askerOf(c1: { readonly url: string }) {
  return (path: string, asked: object, secret?: string): Promise<Reply> => {
    const body = JSON.stringify(asked);
    const requests = createCellRequests('c2', proofsBy(secret)('cell-requests'), systemClock);
    const headers = { [CELL_REQUEST]: requests.sign('c1', path, body) };
    return send(path, { url: c1.url, method: 'POST', body, headers });
  };
}
