// Wallets that move between two cells, each with a twin that stays.
import assert from 'node:assert/strict';
import { slotOf } from '../../../packages/service/src/kernel/values/slot.ts';
import type { Email } from '../../../packages/service/src/people/email.ts';
import type { AppId, ConnectionId, EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../../packages/service/src/kernel/values/micros.ts';
import { createFunding } from '../../../packages/service/src/ledger/funding/funding.ts';
import { createPrivacy } from '../../../packages/service/src/privacy/privacy.ts';
import type { CellPeople } from './cell-people.ts';
import { chat, type Reply } from '../../support/client.ts';
import { connectionsOf } from '../../support/connections.ts';
import { unmovedUser } from './moving-two-cells.ts';
import { type Browser, mainOf } from '../../support/page.ts';
import type { CellName, TwoCells } from './two-cells.ts';

/** Two wallets of one person, for which the same is booked. */
export interface Twins {
  /** The user who moves later. */
  readonly moved: EndUserId;
  /** The one who stays in c1. */
  readonly twin: EndUserId;
  readonly email: Email;
  /** The connections of the two users. */
  readonly ids: readonly [ConnectionId, ConnectionId];
}

/** This is called once by a test file. `say` lets the upstream answer a call. */
export function cellWalletsOf(cells: TwoCells, { signedInAt, newEmail }: CellPeople, say: () => void) {
  const { c1, app } = cells;
  const connections = connectionsOf(c1.database);
  const privacy = createPrivacy(c1.database.owner);

  /** Connects both wallets, which are in c1, with somebody. */
  async function connected({ moved, twin }: Pick<Twins, 'moved' | 'twin'>, email: Email): Promise<Twins> {
    const identity = await connections.newIdentity(email);
    const [one, other] = [moved, twin].map((user) =>
      connections.connect({ identity, appId: app.appId, user, cap: 9_000_000, userLabel: 'Ada', isLater: true }),
    );
    assert.ok(one && other);
    return { moved, twin, email, ids: [(await one).connectionId, (await other).connectionId] };
  }

  return {
    openTwins: async (moved: EndUserId): Promise<Twins> => {
      const twin = unmovedUser(cells, 'c1');
      for (const user of [moved, twin]) await c1.fund(app, user, 0);
      return connected({ moved, twin }, newEmail());
    },
    ...bookingOf(cells),
    /** Makes a call of each, and gives their ids. */
    call: async ({ moved, twin }: Twins): Promise<readonly string[]> => {
      const made: string[] = [];
      for (const user of [moved, twin]) {
        say();
        const reply = await chat({ url: c1.url, key: app.liveKey, user });
        assert.equal(reply.status, 200, reply.text);
        made.push(String(reply.headers.get('x-service-call-id')));
      }
      return made;
    },
    /** Fails if the wallet of the one who has moved shows anything else than that of the one who has not. Gives the number of pages. */
    assertAlike: async ({ email, ids: [moved, twin] }: Twins, at: CellName): Promise<number> => {
      const far = (await signedInAt(at, email)).pages[at];
      const near = (await signedInAt('c1', email)).pages.c1;
      const shown = await shownOf(far, moved);
      assert.deepEqual(shown, await shownOf(near, twin));
      return shown.length;
    },
    /** Deletes the person, and gives their wallets to another one. */
    inherited: async (twins: Twins): Promise<Twins> => {
      const { identityId } = await connections.newIdentity(twins.email);
      assert.deepEqual((await privacy.deleteOwn(identityId))?.obstacles, []);
      return connected(twins, newEmail());
    },
    /** The file of everything that is kept about a person in c1. */
    exportOf: async (email: Email): Promise<string> => {
      const { identityId } = await connections.newIdentity(email);
      let text = '';
      for await (const piece of (await privacy.exportOwn(identityId)) ?? []) text += piece;
      return text;
    },
  };
}

/** Books the same for both, where each is. */
function bookingOf({ c1, c2, app: { appId } }: TwoCells) {
  const funds = { c1: createFunding(c1.database.owner), c2: createFunding(c2.database.owner) };
  let keys = 0;

  async function both(
    { moved, twin }: Twins,
    at: CellName,
    run: (funding: Funding, act: Act) => Promise<unknown>,
  ): Promise<void> {
    const key = `k${(keys += 1)}`;
    await run(funds[at], { appId, userId: moved, key });
    await run(funds.c1, { appId, userId: twin, key });
  }

  return {
    credit: async (twins: Twins, at: CellName, amount: number, count = 1): Promise<void> => {
      for (let n = 0; n < count; n += 1) {
        await both(twins, at, (funding, act) =>
          funding.credit({ ...act, kind: 'contract_credit', amount: micros(BigInt(amount)) }),
        );
      }
    },
    takeBack: (twins: Twins, at: CellName, amount: number): Promise<void> =>
      both(twins, at, (funding, act) =>
        funding.takeBack({ ...act, kind: 'claw_back', amount: micros(BigInt(amount)) }),
      ),
    recover: (twins: Twins, at: CellName): Promise<void> =>
      both(twins, at, (funding, act) => funding.reinstate({ ...act, writesOff: false })),
  };
}

type Funding = ReturnType<typeof createFunding>;
type Act = { readonly appId: AppId; readonly userId: EndUserId; readonly key: string };

/** Makes everything of these users a day older, in both cells. */
export async function aDayLater({ c1, c2, app }: TwoCells, users: readonly EndUserId[]): Promise<void> {
  const slots = users.map((user) => slotOf(app.appId, user));
  for (const { database } of [c1, c2]) {
    const client = await database.owner.connect();
    await client.query('begin; set local session_replication_role = replica');
    for (const [table, column] of [
      ['ledger.journal', 'at'],
      ['usage.calls', 'settled_at'],
    ]) {
      await client.query(
        `update ${table} set ${column} = ${column} - interval '1 day'
         where wallet_id in (select wallet_id from ledger.wallets where app_id = $1 and user_id = any ($2))`,
        [app.appId, users],
      );
    }
    await client.query(`update cells.arrivals set at = at - interval '1 day' where slot = any ($1)`, [slots]);
    await client.query('commit');
    client.release();
  }
}

/** What a page or file says, without what differs between two wallets for which the same was booked. */
function saidBy(reply: Reply): string {
  return (reply.headers.get('content-type')?.includes('csv') === true ? reply.text : mainOf(reply))
    .replaceAll(/con_[A-Za-z0-9]+/g, 'CONNECTION')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'CALL')
    .replaceAll(/before=[\d.]+/g, 'before=PLACE')
    .replaceAll(/(\d{4}-\d{2}-\d{2})T[\d:.]+Z("[^<]*<)?/g, '$1')
    .replaceAll(/name="form" value="[^"]*"/g, 'PROOF')
    .replaceAll(/<dd>user-\d+<\/dd>/g, 'USER');
}

/** Everything that the pages of a wallet show: its page, the older ones, the days of each, and the file. */
async function shownOf(browser: Browser, connection: ConnectionId): Promise<readonly string[]> {
  const shown: string[] = [];
  const path = `/wallet/${connection}`;
  for (let next: string | undefined = path; next !== undefined; ) {
    const page = await browser.ask(next);
    assert.equal(page.status, 200, mainOf(page));
    shown.push(saidBy(page));
    const days = [...page.text.matchAll(/href="([^"]+day=[^"]+)"/g)].map(([, address = '']) => unescaped(address));
    for (const day of new Set(days)) shown.push(...(await pagesOfDay(browser, day)));
    const [, older] = /href="([^"]+)">Older days/.exec(page.text) ?? [];
    next = older && unescaped(older).replace('#movements', '');
  }
  const file = await browser.ask(`${path}/movements.csv`);
  assert.equal(file.status, 200);
  assertAddsUp(file.text);
  return [...shown, saidBy(file)];
}

async function pagesOfDay(browser: Browser, address: string): Promise<readonly string[]> {
  const shown: string[] = [];
  for (let next: string | undefined = address; next !== undefined; ) {
    const page = await browser.ask(next);
    assert.equal(page.status, 200, mainOf(page));
    shown.push(saidBy(page));
    const [, older] = /href="([^"]+)">Older movements/.exec(page.text) ?? [];
    next = older && unescaped(older);
  }
  return shown;
}

const unescaped = (address: string) => address.replaceAll('&#38;', '&');

/** Each movement leads from the balance before it to the one after it, and the first from nothing. */
function assertAddsUp(file: string): void {
  let balance = 0n;
  for (const line of file.trim().split('\r\n').slice(1).toReversed()) {
    const [, , amount = '', after = ''] = line.split(',');
    balance += microsIn(amount);
    assert.equal(balance, microsIn(after), line);
  }
}

function microsIn(decimal: string): bigint {
  const [whole = '', part = ''] = decimal.replace('-', '').split('.');
  const amount = BigInt(whole + part.padEnd(6, '0'));
  return decimal.startsWith('-') ? -amount : amount;
}

/** An entry of a wallet, as operators get it. */
export interface ListedEntry {
  readonly seq: number;
  readonly cell: string;
  readonly kind: string;
  readonly debit: string;
  readonly amountMicros: number;
  readonly balanceAfterMicros: number;
}

/** The oldest first. Every entry is of the wallet's money, and there once. */
export function assertEntriesAddUp(entries: readonly ListedEntry[]): void {
  let balance = 0;
  for (const { debit, amountMicros, balanceAfterMicros } of entries) {
    balance += debit === 'wallet' ? -amountMicros : amountMicros;
    assert.equal(balance, balanceAfterMicros);
  }
  assert.equal(new Set(entries.map(({ cell, seq }) => `${cell} ${seq}`)).size, entries.length);
}
