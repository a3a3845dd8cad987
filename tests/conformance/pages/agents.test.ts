import assert from 'node:assert/strict';
import { test } from 'node:test';
import { micros } from '../../../packages/service/src/kernel/values/micros.ts';
import { chargeFor } from '../../support/catalogue.ts';
import { chat, type Reply } from '../../support/client.ts';
import { newOwnApp, newOwner } from '../../support/control.ts';
import { addBoundKey } from '../../support/keys.ts';
import { assertPage, IN_CONSOLE, mainOf, signedInBrowser } from '../../support/page.ts';
import { peopleOf } from '../../support/people.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { completionBody } from '../../support/scripted-upstream.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';

/** The pages of coding agents, in the console and in a wallet. */

const stage = await setStage();
const { service, app, upstream } = stage;
const { url, database } = service;
const { personWith, newWalletOwner } = peopleOf(stage);
const USAGE = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
const CHARGE = BigInt(chargeFor({ prompt: 100, completion: 10 }));
/** An amount of which one call was spent, as pages say it. */
const amount = (all: bigint) => `Exactly €${(Number(all - CHARGE) / 1e6).toFixed(6)}`;
upstream.script({ body: completionBody({ model: 'm', content: 'Hi.', usage: USAGE }) });

async function inConsole() {
  const owner = await newOwner(service);
  const own = await newOwnApp(owner);
  const browser = await signedInBrowser(service, owner.email);
  const keys = async () =>
    ((await owner.get(200, 'GET', `/apps/${own.appId}/keys`)) as { keys: Record<string, unknown>[] }).keys;
  const path = `/console/${own.appId}/agents?mode=sandbox`;
  return { browser, keys, path };
}

const NOTHING_TYPED = { user: '', name: '', budget: '', expires: '', models: '', addresses: '', perMinute: '' };
const keyIn = ({ text }: Reply): string => /<code id="key">([^<]+)<\/code>/.exec(text)?.[1] ?? '';
/** A page of a wallet with text to copy has the style of the console. */
const WITH_CODE = { isConsole: true };
const countOf = (text: string, word: string): number => text.split(word).length - 1;
const codeIn = ({ text }: Reply, id: string): string =>
  (new RegExp(`<code id="${id}">([^<]+)</code>`).exec(text)?.[1] ?? '').replaceAll('&#34;', '"');

test('CP-08 AU-08 the console makes a key of one user, with lines for each agent', async () => {
  const { browser, keys, path } = await inConsole();
  const first = await browser.open(path);
  assertPage(first, 200, 'Coding agents', IN_CONSOLE);
  assert.match(first.text, /No user has a key of their own yet/);
  const made = await browser.submit(path, { ...NOTHING_TYPED, user: 'dora', name: 'Laptop', budget: '2,50' });
  assertPage(made, 200, 'Your new key', IN_CONSOLE);
  const apiKey = keyIn(made);
  assert.match(apiKey, /^svc_test_\w{36}$/);
  assert.equal(countOf(made.text, apiKey), 2, 'by itself, and in the line for the shell');
  assert.ok(!made.text.includes('x-service-user'), 'the key names the user');
  assert.equal(codeIn(made, 'shell'), `export PURSER_API_KEY=&#39;${apiKey}&#39;`);
  const opencode = JSON.parse(codeIn(made, 'opencode')) as { readonly model: string };
  assert.equal(opencode.model, 'purser/large');
  for (const agent of ['codex', 'claude-code', 'opencode', 'cline', 'continue', 'aider']) {
    assert.match(codeIn(made, agent), /large/, agent);
    assert.match(
      codeIn(made, agent),
      agent === 'claude-code' ? /https:..purser\.test&/ : /https:..purser\.test\/v1\b/,
      agent,
    );
  }
  assert.equal((await chat({ url, key: apiKey })).status, 200);
  const shown = (await keys()).find(({ name }) => name === 'Laptop');
  assert.deepEqual(
    [shown?.['userId'], shown?.['joinSeconds'], shown?.['limits'], shown?.['expiresAt']],
    ['dora', 30, { monthlyBudgetMicros: 2_500_000 }, null],
  );
  const list = await browser.open(path);
  assert.match(list.text, /€0\.000\d+ of €2\.50/);
  assert.ok(!list.text.includes(apiKey));
  const again = await browser.open(`${path}&key=${String(shown?.['keyId'])}&model=acme.large-1`);
  assertPage(again, 200, 'Laptop', IN_CONSOLE);
  assert.match(codeIn(again, 'codex'), /model = "acme\.large-1"/);
  assert.ok(!again.text.includes(apiKey));
});

test('CP-08 a key for an agent takes what the API takes, once', async () => {
  const { browser, keys, path } = await inConsole();
  await browser.open(path);
  const before = (await keys()).length;
  for (const [typed, said] of [
    [{ user: '' }, /Enter the user/],
    [{ user: 'an na' }, /User/],
    [{ user: 'dora', budget: 'lots' }, /not an amount/],
    [{ user: 'dora', expires: '2020-01-01' }, /must be in the future/],
    [{ user: 'dora', models: 'no-such' }, /no-such/],
  ] as const) {
    const refused = await browser.submit(path, { ...NOTHING_TYPED, name: 'Kept', ...typed });
    assertPage(refused, 400, 'Coding agents', IN_CONSOLE);
    assert.match(refused.text, said);
    assert.match(refused.text, /value="Kept"/);
  }
  assert.equal((await keys()).length, before);
  await browser.open(path);
  const form = { ...browser.fieldsOf(path), user: 'dora', joins: 'no' };
  const replies = [await browser.ask(path, { form }), await browser.ask(path, { form })];
  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 303],
  );
  assert.equal((await keys()).length, before + 1);
  assert.equal((await keys()).at(-1)?.['joinSeconds'], undefined);
});

/** A person with 5.00 in the wallet and a cap of 4.00, and the page of their coding agents. */
async function atAgents() {
  const person = await personWith(5_000_000, { cap: 4_000_000 });
  const path = `/wallet/${person.connectionId}/agents`;
  return { ...person, path, add: addBoundKey.bind(undefined, database, app, person.user) };
}

test('ON-06 a wallet shows its own keys in force and what each may spend', async () => {
  const { browser, user, path, add } = await atAgents();
  const other = await stage.newUser(1_000_000);
  await addBoundKey(database, app, other, { name: 'Of another' });
  await add({ name: 'Ended', expiresAtMs: 1_000 });
  assert.match(mainOf(await browser.open(path)), new RegExp(`bound to “${user}”`));
  const { apiKey } = await add({ name: 'Budgeted <b>', monthlyBudget: micros(1_000_000n), models: ['large'] });
  await add({ name: 'Free' });
  assert.equal((await chat({ url, key: apiKey })).status, 200);
  const page = await browser.open(path);
  assertPage(page, 200, 'Coding agents for Test app', WITH_CODE);
  for (const name of ['Of another', 'Ended', apiKey]) assert.ok(!page.text.includes(name), name);
  const [, free = '', budgeted = ''] = page.text.split('<section');
  assert.ok(free.includes('Free') && free.includes(amount(4_000_000n)), free);
  assert.ok(budgeted.includes('Budgeted &#60;b&#62;') && budgeted.includes(amount(1_000_000n)), budgeted);
  assert.match(codeIn(page, 'codex'), /model = "large"/);
});

test('ON-06 AU-09 a wallet owner stops one of their keys for good', async () => {
  const { browser, identityId, path, add } = await atAgents();
  const [one, two] = [await add({ name: 'One' }), await add({ name: 'Two' })];
  assert.equal((await chat({ url, key: one.apiKey })).status, 200);
  await browser.open(path);
  const stopped = await browser.submit(path, {}, one.keyId);
  assertPage(stopped, 200, 'Coding agents for Test app', WITH_CODE);
  assert.match(stopped.text, /The key was stopped\./);
  assert.ok(!stopped.text.includes('>One '));
  assertRefusal(await chat({ url, key: one.apiKey }), { code: 'UNAUTHORIZED' });
  assert.equal((await chat({ url, key: two.apiKey })).status, 200);
  const rows = await sql(
    service,
  )`select actor, app_id from audit.entries where action = 'key.stop' and subject = ${one.keyId}`;
  assert.deepEqual(rows, [{ actor: identityId, app_id: app.appId }]);
});

test('ON-06 nobody stops a key that is not bound to their wallet', async () => {
  const mine = await atAgents();
  const theirs = await atAgents();
  const key = await theirs.add({ name: 'Theirs' });
  await mine.add({ name: 'Mine' });
  await mine.browser.open(mine.path);
  const form = { ...mine.browser.fieldsOf(mine.path), key: key.keyId };
  const reply = await mine.browser.ask(mine.path, { form });
  assert.equal(reply.headers.get('location'), `${mine.path}?done=none`);
  const stranger = await newWalletOwner();
  assertPage(await stranger.browser.ask(theirs.path), 404, 'There is nothing here');
  assert.equal((await chat({ url, key: key.apiKey })).status, 200);
});
