import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../../packages/service/src/kernel/values/micros.ts';
import { createFunding } from '../../../packages/service/src/ledger/funding/funding.ts';
import { createRandom } from '../../proofs/histories/random.ts';
import { type Browser, operatorBrowser } from '../../support/page.ts';
import { newOperator } from '../../support/control.ts';
import { assertPage, IN_CONSOLE } from '../../support/page.ts';
import { completionBody } from '../../support/scripted-upstream.ts';
import { sqlValue } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { walletOwnersOf } from '../../support/people.ts';

const SEEDS = [1, 2, 3];
const ACTS = 90;
const ON_OLDEST_DAY = 30;
const { service, app, upstream, newUser, callAs } = await setStage({ checksBooks: true });
const newWalletOwner = walletOwnersOf(service);
const { owner: database } = service.database;
const funding = createFunding(database);
const operator = operatorBrowser(service, await newOperator(service));

interface Row {
  readonly change: bigint;
  readonly after: bigint;
  readonly what: string;
}

/** An amount on a page as micros, computed independently of the service's code. */
function microsOf(text: string): bigint {
  const [, sign = '', whole = '', part = ''] = /^([+−-]?)€?([\d,]+)(?:\.(\d{1,6}))?$/.exec(text) ?? assert.fail(text);
  const amount = BigInt(whole.replaceAll(',', '') + part.padEnd(6, '0'));
  return sign === '−' || sign === '-' ? -amount : amount;
}

/** The movements on a page of the owner or of an operator: the two last columns are the change and the balance after it. */
function rowsOf(text: string): readonly Row[] {
  const table = /<h2 id="movements">[^]*|<caption>(?:Movements|Entries)[^]*/.exec(text)?.[0] ?? '';
  return (table.match(/<tr><td[^]*?<\/tr>/g) ?? []).map((row) => {
    const cells = [...row.matchAll(/<td[^>]*>([^]*?)<\/td>/g)].map(([, cell = '']) => cell);
    const [change = '', after = ''] = cells.slice(-2).map((cell) => cell.replaceAll(/<br>[^]*|<[^>]*>/g, '').trim());
    const isChange = /^[+−]/.test(change);
    return { what: cells.join(' '), change: isChange ? microsOf(change) : 0n, after: microsOf(after) };
  });
}

/** Each balance is that of the line below and the line's own amount. The oldest line begins with nothing. */
function assertAddsUp(rows: readonly Row[], name: string): void {
  assert.ok(rows.length > 1, name);
  for (const [at, { change, after, what }] of rows.entries()) {
    assert.equal(after, (rows[at + 1]?.after ?? 0n) + change, `${name}: line ${at} of ${rows.length}: ${what}`);
  }
}

/** All lines of a list with pages, from this address on. */
async function allRows(browser: Browser, path: string, older: RegExp): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const { status, text } = await browser.open(next);
    assert.equal(status, 200);
    rows.push(...rowsOf(text));
    next = older.exec(text)?.[1]?.replaceAll('&#38;', '&').replaceAll('&amp;', '&');
  }
  return rows;
}

/** Acts of every kind in random order, some of which are refused, on a wallet of its own. */
async function play(user: string, seed: number): Promise<void> {
  const random = createRandom(seed, 'acts');
  const wallet = { appId: app.appId, userId: user as EndUserId };
  const asides: string[] = [];
  for (let act = 0; act < ACTS; act += 1) {
    const amount = micros(BigInt(random.whole(1, 3_000_000)));
    const key = `${seed}-${act}`;
    const what = random.whole(0, 11);
    if (what < 5) await callAs(user);
    else if (what === 5) await funding.credit({ ...wallet, kind: 'top_up', amount, key });
    else if (what === 6) await funding.credit({ ...wallet, kind: 'contract_credit', amount, key });
    else if (what === 7) await funding.takeBack({ ...wallet, kind: 'refund', amount, key });
    else if (what === 8 && (await funding.setAside({ ...wallet, amount, key })) === 'booked') asides.push(key);
    else if (what === 9) {
      const [ended] = asides.splice(0, 1);
      const kind = random.chance(0.5) ? 'refund_paid' : 'refund_released';
      if (ended !== undefined) await funding.endSetAside({ ...wallet, kind, key: ended });
    } else if (what === 10) {
      await funding.takeBack({ ...wallet, kind: 'claw_back', amount: micros(amount * 3n), key });
    } else await funding.reinstate({ ...wallet, writesOff: random.chance(0.7) });
  }
}

/** Spreads the entries over days and months. The oldest day has more of them than a page has lines for. */
async function spread(user: string, seed: number): Promise<void> {
  const random = createRandom(seed, 'days');
  const id = (await sqlValue<bigint>(database)`select wallet_id from ledger.wallets where user_id = ${user}`) ?? 0n;
  const last = Number(await sqlValue<bigint>(database)`select entry_seq from ledger.wallets where user_id = ${user}`);
  let daysAgo = 0;
  const ago = Array.from({ length: last }, (_, at) => {
    return (daysAgo += at < last - ON_OLDEST_DAY && random.chance(0.2) ? random.whole(1, 12) : 0);
  }).toReversed();
  const days = `('{${ago.join(',')}}'::int[])[seq] * interval '1 day' where wallet_id = ${id}`;
  await database.query(`begin; set local session_replication_role = replica;
    update usage.calls set settled_at = settled_at - ${days}; update ledger.journal set at = at - ${days}; commit`);
}

for (const seed of SEEDS) {
  test(`ON-04 every list of movements adds up line by line: seed ${seed}`, async () => {
    const { browser, connect } = await newWalletOwner();
    const user = await newUser(2_000_000);
    const path = `/wallet/${await connect(app, user)}`;
    upstream.script({
      body: completionBody({ model: 'm', content: 'Hi', usage: { prompt_tokens: 91, completion_tokens: 7 } }),
    });
    await play(user, seed);
    await spread(user, seed);
    const { balance } = await service.wallet(app, user);

    assertPage(await browser.open(path), 200);
    const days = await allRows(browser, path, /href="([^"]+)">Older days/);
    assertAddsUp(days, 'days');
    assert.equal(days[0]?.after, BigInt(balance));
    assert.ok(
      days.some(({ what }) => /\d calls?</.test(what)) && days.some(({ what }) => /, and \d+ more</.test(what)),
    );

    // The page of each line leads on to the end of its day, where the line below it goes on.
    for (const [at, { what, after }] of days.entries()) {
      const [, query] = /href="[^"]*(\?day=[^"]+)"/.exec(what) ?? [];
      if (query === undefined) continue;
      const ofDay = await allRows(browser, path + query.replace('&#38;', '&'), /href="([^"]+)">Older movements/);
      assert.equal(ofDay[0]?.after, after, `line ${at} and its page`);
      const begins = (ofDay.at(-1)?.after ?? 0n) - (ofDay.at(-1)?.change ?? 0n);
      assert.ok(
        begins === 0n || days.some((line) => line.after === begins),
        `line ${at}: its page ends where a line does`,
      );
      if (ofDay.length > 1)
        assertAddsUp([...ofDay, { change: begins, after: begins, what: '' }], `the page of line ${at}`);
    }

    const { text } = await browser.ask(`${path}/movements.csv`);
    const lines = text
      .trim()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(','));
    const file = lines.map(([, what = '', change = '', after = '']) => ({
      what,
      change: microsOf(change),
      after: microsOf(after),
    }));
    assertAddsUp(file, 'the file');
    assert.deepEqual(
      lines.filter(([, what]) => what === 'Refund paid out').map((line) => [line[2], microsOf(line[9] ?? '') > 0n]),
      lines.filter(([, what]) => what === 'Refund paid out').map(() => ['0', true]),
    );

    const ofOperator = `/ops/wallet?${new URLSearchParams({ app: app.appId, user }).toString()}`;
    assertPage(await operator.open(ofOperator), 200, user, IN_CONSOLE);
    assertAddsUp(await allRows(operator, ofOperator, /href="([^"]+)">Older/), 'entries for an operator');
  });
}
