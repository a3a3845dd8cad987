import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createHandOvers } from '../../../packages/service/src/people/hand-over.ts';
import { createPersonSessions } from '../../../packages/service/src/people/session.ts';
import { type Clock, systemClock } from '../../../packages/service/src/kernel/time/clock.ts';
import { arrivalOf, askerOf, beginAtC2, cellPeopleOf, proofsBy } from './cell-people.ts';
import { send } from '../../support/client.ts';
import { mailTo } from '../../support/control.ts';
import { assertPage, mainOf } from '../../support/page.ts';
import { isSignedIn, PERSON_COOKIE } from '../../support/people.ts';
import { startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { REDIRECT_URI } from '../../support/service.ts';
import { standBetween } from './stand-in-cell.ts';
import { startTwoCells } from './two-cells.ts';
import { sql } from '../../support/sql.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** People with wallets in two cells, who sign in to one of them. */

const upstream = await startScriptedUpstream();
const cells = await startTwoCells(upstream.baseUrl);
const { c1, c2, app } = cells;
const { openPages, newEmail, signedInAt, personOf, walletAt, disconnect } = cellPeopleOf(cells);
const ARRIVAL_COOKIE = '__Host-purser-arrival';
const NOT_HERE = 'This link did not work';
after(() => cells.close(upstream));

const at = (nowMs: number): Clock => ({ ...systemClock, nowMs: () => nowMs });

const isAlways = () => Promise.resolve(true);

/** Makes tokens as a gateway of c1 does. */
function handOversAt(clock: Clock = systemClock, secret?: string) {
  const keys = { proof: proofsBy(secret), kept: () => Buffer.alloc(32) };
  return createHandOvers({ pool: c1.database.owner, keys, clock, own: 'c1', isInForce: isAlways });
}

await waitUntil('the cells reach each other', async () => {
  const { pages } = await signedInAt('c1');
  const there = await signedInAt('c2');
  const wholes = [(await pages.go('c1', '/wallet')).text, (await there.pages.go('c2', '/wallet')).text];
  return wholes.every((text) => !text.includes('may be missing'));
});

test('CE-07 ON-04 wallets of all cells open with one sign-in', async () => {
  const { pages, email } = await signedInAt('c1');
  const near = await walletAt('c1', email, 1_250_000);
  const far = await walletAt('c2', email, 2_750_000, 'Ada at work');
  const left = await walletAt('c1', email, 3_500_000);
  await disconnect('c1', pages, left);

  const list = await pages.go('c1', '/wallet');
  assertPage(list, 200, 'Your wallet');
  const hrefs = [...list.text.matchAll(/<div><a href="([^"]+)">/g)].map(([, href = '']) => href);
  const there = `/wallet/hand-over?to=c2&#38;next=%2Fwallet%2F${far}`;
  assert.deepEqual(
    hrefs,
    [there, `/wallet/${near}`, `/wallet/${left}`],
    'newest first, and connected ones before others',
  );
  const [farItem = ''] = list.text.split(there)[1]?.split('</li>') ?? [];
  for (const said of ['Test app', 'Active', 'Ada at work', '€2.75', '€9.00'])
    assert.ok(farItem.includes(said), farItem);

  const opened = await pages.go('c1', there.replace('&#38;', '&'));
  assertPage(opened, 200, 'Your wallet for Test app');
  assert.deepEqual([opened.at, opened.text.includes('€2.75')], ['c2', true]);
  // The same sign-in, as old as it is at c1: a hand-over proves nothing anew.
  const [one, two] = [await personOf('c1', pages), await personOf('c2', pages)];
  assert.deepEqual([two.sessionId, two.identity.email], [one.sessionId, email]);
  assert.ok(Math.abs(two.createdAtMs - one.createdAtMs) < 2, `${one.createdAtMs} ${two.createdAtMs}`);
  assert.equal(pages.c2.cookies.has(ARRIVAL_COOKIE), false);

  const back = await pages.go('c2', '/wallet');
  assert.ok(back.text.includes(`"/wallet/${far}"`) && back.text.includes(`next=%2Fwallet%2F${near}`));
  const token = pages.c2.cookies.get(PERSON_COOKIE);
  assertPage(await pages.go('c2', `/wallet/hand-over?to=c1&next=/wallet/${near}`), 200, 'Your wallet for Test app');
  // Its address in the wrong cell, as in a mail from before a move, leads there too.
  assert.equal((await pages.go('c1', `/wallet/${far}`)).at, 'c2');
  assert.equal(pages.c2.cookies.get(PERSON_COOKIE), token, 'who is signed in goes straight there');
});

test('CE-07 two pages opened at once both arrive', async () => {
  const { pages } = await signedInAt('c1');
  const first = await arrivalOf(pages);
  const second = await arrivalOf(pages);
  assertPage(await pages.go('c2', second), 200, 'How you sign in', { hasScript: true });
  assertPage(await pages.go('c2', first), 200, 'How you sign in', { hasScript: true });
});

test('CE-07 a person with another e-mail gets the chosen wallet', async () => {
  const { pages, email } = await signedInAt('c1');
  for (const next of [await walletAt('c2', email, 1), 'data']) {
    pages.c2.cookies.set(PERSON_COOKIE, (await createPersonSessions(c2.database.owner).open(newEmail())).token);
    assert.equal((await pages.go('c1', `/wallet/hand-over?to=c2&next=/wallet/${next}`)).status, 200);
    assert.equal((await personOf('c2', pages)).identity.email, email);
  }
});

test('CE-07 ON-04 the page says which cell is away', async (t) => {
  const { pages, email } = await signedInAt('c1');
  const empty = await signedInAt('c1');
  const near = await walletAt('c1', email, 1);
  const far = await walletAt('c2', email, 1);
  t.after(() => cells.setAddress('c1', 'c2', c2.url));
  await cells.setAddress('c1', 'c2', 'http://127.0.0.1:9');
  let list = await pages.go('c1', '/wallet');
  await waitUntil('c1 has lost c2', async () => {
    list = await pages.go('c1', '/wallet');
    return !list.text.includes(far);
  });
  assert.match(mainOf(list), new RegExp(`Some of your apps may be missing here[^]*/wallet/${near}`));
  const none = mainOf(await empty.pages.go('c1', '/wallet'));
  assert.deepEqual([/may be missing/.test(none), /not connected an app yet/.test(none)], [true, false]);

  await pages.c1.open('/wallet');
  const out = await pages.c1.submit('/wallet/sign-out', {}, 'everywhere');
  assertPage(out, 200, 'You are signed out here');
  assert.match(mainOf(out), /One of our servers did not respond/);
  assert.equal(await isSignedIn(pages.c1), false);

  await cells.setAddress('c1', 'c2', c2.url);
  const again = await signedInAt('c1', email);
  await waitUntil('c1 has found c2', async () => (await again.pages.go('c1', '/wallet')).text.includes(far));
});

test('CE-07 ON-01 a token signs in once, in its browser', async () => {
  const { pages: victim } = await signedInAt('c2');
  const { pages: attacker, person } = await signedInAt('c1');
  // The attacker's token in the browser of somebody else, who has begun a hand-over of their own, is void from then on.
  const lure = await arrivalOf(attacker);
  const begun = openPages();
  await beginAtC2(begun);
  const strangers = { 'who is signed in': victim, 'who has begun one': begun, 'who is nobody': openPages() };
  for (const [who, { c2: browser }] of Object.entries(strangers)) {
    assertPage(await browser.ask(lure), 403, NOT_HERE);
    assert.equal(browser.cookies.has(PERSON_COOKIE), browser === victim.c2, who);
  }
  assert.notEqual((await personOf('c2', victim)).identity.email, person.identity.email);
  assertPage(await attacker.c2.ask(lure), 403, NOT_HERE);
  const { state } = await beginAtC2(attacker);
  const tokenOf = (hands: ReturnType<typeof handOversAt>, to = 'c2', of = state): string =>
    `/wallet/arrive?token=${hands.offer(person, to, { state: of, next: '/wallet' })}`;
  const refused = {
    old: tokenOf(handOversAt(at(Date.now() - 61_000))),
    'ahead of time': tokenOf(handOversAt(at(Date.now() + 61_000))),
    'with another secret': tokenOf(handOversAt(systemClock, 'the secret of another service')),
    'for another cell': tokenOf(handOversAt(), 'c1'),
    'for another browser': tokenOf(handOversAt(), 'c2', 'A'.repeat(43)),
    altered: `${await arrivalOf(attacker)}A`,
    'without a token': '/wallet/arrive',
    'of nothing': '/wallet/arrive?token=x',
  };
  for (const [why, path] of Object.entries(refused)) {
    assertPage(await attacker.c2.ask(path), 403, NOT_HERE);
    assert.equal(attacker.c2.cookies.has(PERSON_COOKIE), false, why);
  }
  const used = await arrivalOf(attacker);
  assertPage(await attacker.c1.ask(used), 403, NOT_HERE); // At c1, which has sealed it, it opens nothing and voids nothing.
  assert.equal((await attacker.c2.ask(used)).headers.get('location'), '/wallet/passkeys');
  assert.equal(await isSignedIn(attacker.c2), true);
  // Replayed, with the cookie put back.
  const again = openPages();
  const kept = await beginAtC2(again);
  const twice = await arrivalOf(attacker, kept.path);
  const cookie = again.c2.cookies.get(ARRIVAL_COOKIE) ?? '';
  assert.equal((await again.c2.ask(twice)).status, 303);
  const replay = openPages();
  replay.c2.cookies.set(ARRIVAL_COOKIE, cookie);
  assertPage(await replay.c2.ask(twice), 403, NOT_HERE);
  assert.equal(replay.c2.cookies.has(PERSON_COOKIE), false);
});

test('CE-07 ON-01 an ended sign-in is not handed over', async () => {
  const { pages, person } = await signedInAt('c1');
  const path = await arrivalOf(pages);
  await createPersonSessions(c1.database.owner).end(person);
  assertPage(await pages.c2.ask(path), 403, NOT_HERE);
  assert.equal(await createPersonSessions(c2.database.owner).isInForce({ ...person, ...person.identity }), false);
  // Who is signed in nowhere signs in where they wanted to go.
  const nobody = await openPages().go('c1', '/wallet/hand-over?to=c2&next=/wallet/data');
  assertPage(nobody, 200, 'Sign in', { hasScript: true });
  assert.deepEqual([nobody.at, nobody.text.includes('value="/wallet/data"')], ['c2', true]);
});

test('CE-07 ON-01 nobody is led outside the cells', async () => {
  const { pages } = await signedInAt('c1');
  const { state } = await beginAtC2(pages);
  for (const other of ['https://evil.test', '//evil.test/', 'c1'].map(encodeURIComponent)) {
    for (const asked of [`to=${other}&next=/wallet`, `to=c2&next=${other}`, `to=c2&next=${other}&state=${state}`]) {
      await pages.go('c1', `/wallet/hand-over?${asked}`);
    }
    await openPages().go('c2', `/wallet/from-cell?from=${other}&next=${other}`);
  }
  assertPage(await pages.go('c1', '/wallet/hand-over?to=c2&next=/wallet&state=//evil.test/'), 200, 'Your wallet');
  // Nor round and round.
  for (const circle of ['/wallet/hand-over', '/wallet/from-cell', '/wallet/arrive']) {
    assertPage(await pages.go('c1', `/wallet/hand-over?to=c2&next=${circle}`), 200, 'Your wallet');
  }
});

test('CE-07 ON-04 a stranger sees nothing of another cell’s wallet', async () => {
  const far = await walletAt('c2', newEmail(), 4_560_000);
  const { pages } = await signedInAt('c1');
  assert.ok(!(await pages.go('c1', '/wallet')).text.includes(far));
  assert.equal((await pages.go('c1', `/wallet/${far}`)).at, 'c1');
  const reply = await pages.go('c1', `/wallet/hand-over?to=c2&next=/wallet/${far}`);
  assertPage(reply, 404, 'There is nothing here');
  assert.deepEqual([reply.at, reply.text.includes('4.56')], ['c2', false]);
});

test('CE-07 ON-01 signing out ends a sign-in in all cells', async () => {
  const { pages, email } = await signedInAt('c1');
  const other = await signedInAt('c2', email);
  await pages.go('c1', '/wallet/hand-over?to=c2&next=/wallet');
  assert.equal(await isSignedIn(pages.c2), true);
  await pages.c1.open('/wallet');
  await pages.c1.submit('/wallet/sign-out', {}, 'Sign out</button>');
  assert.deepEqual(
    [await isSignedIn(pages.c1), await isSignedIn(pages.c2), await isSignedIn(other.pages.c2)],
    [false, false, true],
  );

  const asked = openPages();
  await asked.c2.open('/wallet/sign-in');
  await asked.c2.submit('/wallet/sign-in', { email });
  const { token: code } = await mailTo(c2, email);
  const third = await signedInAt('c1', email);
  await third.pages.c1.open('/wallet');
  await third.pages.c1.submit('/wallet/sign-out', {}, 'everywhere');
  assert.equal(await isSignedIn(other.pages.c2), false);
  assertPage(await asked.c2.submit('/wallet/code', { code }), 400, 'This code no longer works');
});

test('CE-07 ON-01 another cell’s app link uses the existing sign-in', async () => {
  const { pages } = await signedInAt('c1');
  const user = cells.userOf('c2');
  const { body } = await send('/connect', { url: c2.url, key: app.liveKey, user, body: { redirectUri: REDIRECT_URI } });
  const link = new URL(String(body['connectUrl'])).pathname;
  const signIn = await pages.go('c2', link);
  assertPage(signIn, 200, 'Sign in', { hasScript: true });
  const [, offered = ''] = /<a href="([^"]+)">Already signed in at c1\.purser\.test/.exec(signIn.text) ?? [];
  const reply = await pages.go('c2', offered.replaceAll('&#38;', '&'));
  assertPage(reply, 200, 'Connect Test app');
  assert.equal(reply.at, 'c2');
});

test('CE-07 CP-12 a hand-over is no fresh proof', async () => {
  const { pages, person } = await signedInAt('c1');
  assert.match(mainOf(await pages.go('c1', '/wallet/data')), /covers only this one/);
  assert.doesNotMatch(mainOf(await pages.go('c1', '/wallet/hand-over?to=c2&next=/wallet/data')), /Sign in again first/);
  const old = await signedInAt('c1', person.identity.email);
  await sql(c1)`update identities.sessions set created_at = created_at - interval '11 minutes'
    where session_id = ${old.person.sessionId}`;
  const data = await old.pages.go('c1', '/wallet/hand-over?to=c2&next=/wallet/data');
  assert.deepEqual([data.at, /Sign in again first/.test(mainOf(data))], ['c2', true]);
});

test('CE-08 only another cell learns anything of a person', async () => {
  const ask = askerOf(c1);
  const { email, person } = await signedInAt('c1');
  const { sessionId } = person;
  await walletAt('c1', email, 1);
  const questions = {
    '/cells/wallets': { email },
    '/cells/session': { email, sessionId },
    '/cells/sign-out': { email },
    '/cells/address': {},
  };
  for (const [path, asked] of Object.entries(questions)) {
    assert.equal((await send(path, { url: c1.url, method: 'POST', body: JSON.stringify(asked) })).status, 404, path);
    assert.equal((await ask(path, asked, 'the secret of another service')).status, 404, path);
  }
  assert.equal((await ask('/cells/session', { email, sessionId })).text, '{"isInForce":true}');
  assert.equal((await ask('/cells/session', { email: newEmail(), sessionId })).text, '{"isInForce":false}');
  assert.equal((await ask('/cells/wallets', { email: newEmail() })).text, '[]');
  const wallets = await ask('/cells/wallets', { email });
  assert.deepEqual([wallets.status, /example\.test|userId|walletId/.test(wallets.text)], [200, false]);
});

test('CE-07 ON-01 a hand-over during a sign-out leaves no sign-in', async (t) => {
  const { pages, email } = await signedInAt('c1');
  const owner = await signedInAt('c2', email);
  await owner.pages.c2.open('/wallet');
  const arrival = await arrivalOf(pages);
  let entered = 0;
  await standBetween(t, cells, async (path) => {
    // c2 has ended its own sign-ins, and c1 still has one to vouch for.
    if (path === '/cells/sign-out' && entered === 0) entered = (await pages.c2.ask(arrival)).status;
  });
  await owner.pages.c2.submit('/wallet/sign-out', {}, 'everywhere');
  assert.deepEqual([entered, await isSignedIn(pages.c1), await isSignedIn(pages.c2)], [303, false, false]);
});
