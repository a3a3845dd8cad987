import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { NOTHING_TYPED } from '../../../packages/service/src/web/console/keys/key-form.ts';
import { snippetsFor } from '../../../packages/service/src/web/console/keys/snippets.ts';
import { chat, type Reply, send } from '../../support/client.ts';
import { newOwnApp, newOwner } from '../../support/control.ts';
import { assertPage, IN_CONSOLE, signedInBrowser } from '../../support/page.ts';
import { completionBody } from '../../support/scripted-upstream.ts';
import { setStage } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** The pages of keys in the console. */

const { service, upstream } = await setStage();
upstream.script({
  body: completionBody({ model: 'm', content: 'Hi.', usage: { prompt_tokens: 4, completion_tokens: 2 } }),
});
const { url } = service;

async function begin() {
  const owner = await newOwner(service);
  const app = await newOwnApp(owner);
  const browser = await signedInBrowser(service, owner.email);
  const keys = async () =>
    ((await owner.get(200, 'GET', `/apps/${app.appId}/keys`)) as { keys: Record<string, unknown>[] }).keys;
  return { owner, app, browser, keys, path: `/console/${app.appId}/keys?mode=sandbox` };
}

const keyIn = ({ text }: Reply): string => /<code id="key">([^<]+)<\/code>/.exec(text)?.[1] ?? '';
const idIn = ({ text }: Reply): string => /key\?mode=sandbox&#38;id=(key_\w+)/.exec(text)?.[1] ?? '';

test('CP-08 AU-08 the console shows a new key once, with calls to paste', async () => {
  const { browser, keys, path: page } = await begin();
  assertPage(await browser.open(page), 200, 'Keys', IN_CONSOLE);
  const made = await browser.submit(page, {
    name: 'Batch <b>',
    budget: '2,50',
    models: 'large',
    perMinute: '30',
    expires: '2031-06-30',
    user: 'dora',
  });
  assertPage(made, 200, 'Your new key', IN_CONSOLE);
  const apiKey = keyIn(made);
  assert.match(apiKey, /^svc_test_\w{36}$/);
  assert.equal(made.text.split(apiKey).length - 1, 6, 'once by itself, and in each of five snippets');
  assert.ok(!made.text.includes('x-service-user'), 'a bound key needs none');
  assert.equal((await chat({ url, key: apiKey })).status, 200);
  const shown = (await keys()).find(({ name }) => name === 'Batch <b>');
  assert.deepEqual(shown?.['limits'], { models: ['large'], perMinute: 30, monthlyBudgetMicros: 2_500_000 });
  assert.deepEqual([shown['expiresAt'], shown['userId']], ['2031-06-30T23:59:59.999Z', 'dora']);
  const list = await browser.open(page);
  assert.match(list.text, /Batch &#60;b&#62;/);
  assert.match(list.text, /30 a minute/);
  assert.ok(!list.text.includes(apiKey));
  const live = await browser.open(page.replace('?mode=sandbox', ''));
  assert.ok(!live.text.includes('Batch'), 'each mode has a list of its own');
});

test('CP-08 a form sent twice makes one key and rolls once', async () => {
  const { app, browser, keys, path: page } = await begin();
  await browser.open(page);
  const form = { ...browser.fieldsOf(page), name: 'Twice' };
  const send = () => browser.ask(page, { form });
  const replies = [await send(), await send(), await send()];
  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 303, 303],
  );
  const keyId = (await keys()).find(({ name }) => name === 'Twice')?.['keyId'];
  assert.equal((await keys()).filter(({ name }) => name === 'Twice').length, 1);
  for (const { headers } of replies.filter(({ status }) => status === 303)) {
    assert.equal(headers.get('location'), `/console/${app.appId}/key?mode=sandbox&id=${String(keyId)}&done=before`);
  }
  const shown = await browser.open(`/console/${app.appId}/key?mode=sandbox&id=${String(keyId)}&done=before`);
  assertPage(shown, 200, 'Twice', IN_CONSOLE);
  assert.match(shown.text, /no second key was made/);

  const own = `/console/${app.appId}/key?mode=sandbox&id=${String(keyId)}`;
  const roll = { ...browser.fieldsOf(own, 'value="roll"'), overlap: '3600', act: 'roll' };
  assertPage(await browser.ask(own, { form: roll }), 200, 'Your new key', IN_CONSOLE);
  const again = await browser.ask(own, { form: roll });
  const successor = (await keys()).find(({ rolledFrom }) => rolledFrom === keyId)?.['keyId'];
  assert.equal(
    again.headers.get('location'),
    `/console/${app.appId}/key?mode=sandbox&id=${String(successor)}&done=before`,
  );
  assert.equal((await keys()).filter(({ name }) => name === 'Twice').length, 2);
});

test('CP-08 wrong input is refused by API rules and kept', async () => {
  const { browser, keys, path: page } = await begin();
  await browser.open(page);
  const before = (await keys()).length;
  for (const [typed, said] of [
    [{ budget: 'lots' }, /not an amount/],
    [{ perMinute: '1.5' }, /whole number/],
    [{ expires: 'soon' }, /must look like/],
    [{ expires: '2020-01-01' }, /must be in the future/],
    [{ expires: '2031-02-31' }, /Expires/],
    [{ models: 'no-such' }, /no-such/],
    [{ addresses: 'here' }, /Limits/],
    [{ user: 'an na' }, /Only for this user/],
  ] as const) {
    const refused = await browser.submit(page, { ...NOTHING_TYPED, user: '', name: 'Kept', ...typed });
    assertPage(refused, 400, 'Keys', IN_CONSOLE);
    assert.match(refused.text, said);
    assert.match(refused.text, /value="Kept"/);
  }
  assert.equal((await keys()).length, before);
});

test('CP-08 a key is changed, rolled and revoked on its page', async () => {
  const { owner, app, browser, keys, path: page } = await begin();
  await browser.open(page);
  const made = await browser.submit(page, { name: 'Site', budget: '5' });
  const [apiKey, keyId] = [keyIn(made), idIn(made)];
  assert.equal((await chat({ url, key: apiKey, user: 'anna' })).status, 200);
  const own = `/console/${app.appId}/key?mode=sandbox&id=${keyId}`;
  const opened = await browser.open(own);
  assertPage(opened, 200, 'Site', IN_CONSOLE);
  assert.match(opened.text, /Spent this month/);
  const used = await waitUntil('the call with the key is counted', async () => {
    const shown = await browser.open(own);
    return shown.text.includes('Calls with this key by day') && shown;
  });
  const days = [...used.text.matchAll(/<td class="number">(\d+)<\/td><td class="number">(\d+)</g)];
  assert.deepEqual([days.length, days.at(-1)?.slice(1)], [30, ['1', '0']]);
  assert.ok(!opened.text.includes(apiKey));

  const saved = await browser.submit(own, { name: 'Shop', budget: '', act: 'save' }, 'value="save"');
  assertPage(saved, 200, 'Shop', IN_CONSOLE);
  assert.match(saved.text, /The key was changed/);
  // A form that lacks what it is about changes nothing: not even a limit is taken away, and no key ends at once.
  const limits = (await keys()).find((key) => key['keyId'] === keyId)?.['limits'];
  assertPage(await browser.submit(own, { overlap: '', act: 'roll' }, 'value="roll"'), 400, 'Shop', IN_CONSOLE);
  assertPage(await browser.submit(own, { act: 'rol' }, 'value="roll"'), 200, 'Shop', IN_CONSOLE);
  const still = (await keys()).find((key) => key['keyId'] === keyId);
  assert.deepEqual([still?.['name'], still?.['limits'], still?.['rolledTo']], ['Shop', limits, null]);
  const rolled = await browser.submit(own, { overlap: '0', act: 'roll' }, 'value="roll"');
  assertPage(rolled, 200, 'Your new key', IN_CONSOLE);
  const next = keyIn(rolled);
  assert.equal((await send('/v1/models', { url, key: next })).status, 200);
  const old = await browser.open(own);
  assert.match(old.text, /Succeeded by/);
  assert.ok(!old.text.includes('value="roll"'));

  const nextId = String((await keys()).find(({ rolledFrom }) => rolledFrom === keyId)?.['keyId']);
  const successor = own.replace(keyId, nextId);
  await browser.open(successor);
  const revoked = await browser.submit(successor, { act: 'revoke' }, 'value="revoke"');
  assertPage(revoked, 200, 'Shop', IN_CONSOLE);
  assert.match(revoked.text, /The key was revoked/);
  assert.ok(!revoked.text.includes('value="save"'));
  assert.equal((await send('/v1/models', { url, key: next })).status, 401);

  const { entries } = await owner.get(200, 'GET', '/accounts/current/audit');
  const acts = (entries as { action: string }[]).map(({ action }) => action);
  assert.deepEqual(acts.slice(0, 5), ['key.revoke', 'key.roll', 'key.create', 'key.edit', 'key.create']);

  assertPage(await browser.open(own.replace(keyId, 'key_0000000000000000000000')), 404, 'Keys', IN_CONSOLE);
  const stranger = await begin();
  assertPage(await stranger.browser.open(own), 404);
  assertPage(await stranger.browser.open(own.replace(app.appId, stranger.app.appId)), 404, 'Keys', IN_CONSOLE);
});

test('CP-08 CC-01 the snippets run as they are', async () => {
  const { app } = await begin();
  const facts = { publicUrl: url, apiKey: app.testKey, model: 'large', user: 'anna' };
  const code = (id: string) => snippetsFor(facts).find((snippet) => snippet.id === id)?.code ?? '';
  const run = promisify(execFile);
  const root = path.join(import.meta.dirname, '../../..');
  const directory = mkdtempSync(path.join(root, '.test-snippets-')); // Inside, so that the packages are found.
  try {
    const script = async (id: string) => {
      const file = path.join(directory, `${id}.mjs`);
      writeFileSync(file, code(id));
      return (await run(process.execPath, [file])).stdout;
    };
    const outputs = await Promise.all([
      run('sh', ['-c', code('curl')]).then(({ stdout }) => stdout),
      script('javascript'),
      script('ai-sdk'),
    ]);
    for (const output of outputs) assert.match(output, /This is a sandbox answer/);
  } finally {
    rmSync(directory, { recursive: true });
  }
  const odd = snippetsFor({ ...facts, model: `o'dd"`, user: undefined }).find(({ id }) => id === 'curl')?.code ?? '';
  const { stdout } = await run('sh', ['-c', odd.replace(/^curl/, 'printf "%s\\n"')]);
  assert.match(stdout, /"model":"o'dd\\""/);
  assert.ok(!stdout.includes('x-service-user'));
});
