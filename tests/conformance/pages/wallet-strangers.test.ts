import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deriveKey, hmacSha256 } from '../../../packages/service/src/kernel/crypto/crypto.ts';
import { newConnectionId } from '../../../packages/service/src/kernel/values/ids.ts';
import { openBrowser } from '../../support/page.ts';
import { assertPage } from '../../support/page.ts';
import { PERSON_COOKIE, walletOwnersOf } from '../../support/people.ts';
import { sql, sqlValue } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';

const PURSER_SECRET = 'a secret of these tests alone, long enough';
const { service, app, newUser } = await setStage({ environment: { PURSER_SECRET } });
const FORMS = ['/topup', '/cap', '/pause', '/disconnect', '/reconnect', '/refund', '/agents'];
const PAGES = [
  '',
  '/disconnect',
  '/refund',
  '/agents',
  '/sessions',
  '/movements.csv',
  '?receipt=019a0000-0000-7000-8000-000000000000',
  '?before=5',
];
/** These fields are sent with every form, so that each would have an effect. */
const FIELDS = { cap: '1', paused: 'yes', none: '', amount: '1', key: 'k' };

/** Everything that these pages could change. */
async function everything(): Promise<string> {
  const all = await sqlValue<string>(service)`select coalesce(string_agg(t::text, '|'), '') as all from (
      select w::text from ledger.wallets w union all select c::text from connections.connections c
      union all select e::text from ledger.entries e union all select r::text from payments.refunds r order by 1
    ) t`;
  return all ?? '';
}

test('ON-04 another’s connection looks exactly like a missing one', async () => {
  const owner = await newWalletOwner();
  const stranger = await newWalletOwner();
  const theirs = `/wallet/${await owner.connect(app, await newUser(5_000_000))}`;
  const mine = `/wallet/${await stranger.connect(app, await newUser(1))}`;
  const nowhere = `/wallet/${newConnectionId()}`;
  const before = await everything();
  for (const page of PAGES) {
    const [other, none] = await Promise.all([theirs, nowhere].map((path) => stranger.browser.ask(path + page)));
    assert.ok(other !== undefined && none !== undefined);
    assertPage(other, 404, 'There is nothing here');
    assert.equal(other.text, none.text, page);
  }
  // Proofs that no page gives: made for the stranger's own session and these addresses.
  const session = stranger.browser.cookies.get(PERSON_COOKIE) ?? '';
  const key = deriveKey(Buffer.from(PURSER_SECRET), 'page-form');
  const proofOf = (action: string) => hmacSha256(key, session, '\n', action).toString('base64url');
  for (const form of FORMS) {
    const [other, none] = await Promise.all(
      [theirs + form, nowhere + form].map((path) =>
        stranger.browser.ask(path, { form: { ...FIELDS, form: proofOf(path) } }),
      ),
    );
    assert.ok(other !== undefined && none !== undefined);
    assertPage(other, 404, 'There is nothing here');
    assert.equal(other.text, none.text, form);
  }
  assert.equal(await everything(), before);
  // The proofs are valid: the stranger's own wallet accepts them.
  assertPage(await stranger.browser.ask(`${mine}/cap`, { form: { ...FIELDS, form: proofOf(`${mine}/cap`) } }), 303);
});
const newWalletOwner = walletOwnersOf(service);

test('ON-04 the owner’s forms work only in their session', async () => {
  const { browser, connect } = await newWalletOwner();
  const path = `/wallet/${await connect(app, await newUser(5_000_000))}`;
  await browser.open(path);
  const forms: [string, Record<string, string>][] = ['/topup', '/cap', '/pause'].map((form) => [
    path + form,
    { ...FIELDS, ...browser.fieldsOf(path + form) },
  ]);
  await browser.open(`${path}/disconnect`);
  forms.push([`${path}/disconnect`, browser.fieldsOf(`${path}/disconnect`)]);
  const before = await everything();
  const nobody = openBrowser(service.url);
  const other = await newWalletOwner();
  for (const [address, form] of forms) {
    assertPage(await nobody.ask(address, { form }), 403, 'This did not work');
    assertPage(await other.browser.ask(address, { form }), 403, 'This did not work');
    for (const origin of ['https://evil.test', 'null', undefined]) {
      assertPage(await browser.ask(address, { form, origin }), 403, 'This did not work');
    }
    assertPage(await browser.ask(address, { form: { ...form, form: '' } }), 403, 'This did not work');
  }
  assert.equal(await everything(), before);
});

test('ON-04 an ended session opens nothing', async () => {
  const { browser, connect, identityId } = await newWalletOwner();
  const path = `/wallet/${await connect(app, await newUser(5_000_000))}`;
  await browser.open(path);
  const form = browser.fieldsOf(`${path}/pause`);
  await sql(service)`delete from identities.sessions where identity_id = ${identityId}`;
  const before = await everything();
  assertPage(await browser.ask(`${path}/pause`, { form }), 403, 'This did not work');
  assertPage(await browser.ask(path), 303);
  assertPage(await browser.ask(`${path}/movements.csv`), 303);
  assert.equal(await everything(), before);
});

test('ER-01 form-only addresses lead to the page with the form', async () => {
  const { browser, connect } = await newWalletOwner();
  const path = `/wallet/${await connect(app, await newUser(5_000_000))}`;
  for (const form of ['/topup', '/cap', '/pause', '/reconnect']) {
    const reply = await browser.ask(path + form);
    assertPage(reply, 303);
    assert.equal(reply.headers.get('location'), path);
  }
});
