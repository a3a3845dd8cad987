import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newOwner } from '../../support/control.ts';
import { assertPage, IN_CONSOLE, signedInBrowser } from '../../support/page.ts';
import { setStage } from '../../support/stage.ts';

const { service } = await setStage();

test('AU-06: the console shows people their own apps, and leads strangers to the sign-in', async () => {
  const owner = await newOwner(service);
  const { appId } = await owner.get(201, 'POST', '/apps', { name: 'Reader' });
  const browser = await signedInBrowser(service, owner.email);
  const list = await browser.open('/console');
  assertPage(list, 200, 'Your apps', IN_CONSOLE);
  assert.ok(list.text.includes(`href="/console/${String(appId)}"`), list.text);
  assertPage(await browser.open(`/console/${String(appId)}`), 200, 'Reader', IN_CONSOLE);

  const stranger = await signedInBrowser(service, (await newOwner(service)).email);
  for (const path of [
    `/console/${String(appId)}`,
    `/console/${String(appId)}/settings`,
    '/console/app_0000000000000000000000',
    '/console/x',
  ]) {
    const reply = await stranger.open(path);
    assertPage(reply, 404);
    assert.ok(!reply.text.includes('Reader'), path);
  }
  stranger.cookies.clear();
  assertPage(await stranger.open(`/console/${String(appId)}`), 200, 'Sign in');
});

test('CP-02: an app is made and changed on its pages by the rules of the API', async () => {
  const owner = await newOwner(service);
  const browser = await signedInBrowser(service, owner.email);
  await browser.open('/console');
  const refused = await browser.submit('/console', { name: ' ' });
  assertPage(refused, 400, 'Your apps', IN_CONSOLE);
  assert.match(refused.text, /Name: must have at least 1 character/);
  const made = await browser.submit('/console', { name: '<b>Reader' });
  assertPage(made, 200, undefined, IN_CONSOLE);
  assert.match(made.text, /The app was created/);
  assert.match(made.text, /<body class="console sandbox">/);
  const { apps } = (await owner.get(200, 'GET', '/apps')) as { apps: { appId: string; name: string }[] };
  assert.deepEqual(
    apps.map(({ name }) => name),
    ['<b>Reader'],
  );
  const path = `/console/${apps[0]?.appId}/settings`;

  await browser.open(path);
  const wrong = await browser.submit(path, { name: 'Reader', redirectUris: 'http://app.test', returnUri: '' });
  assertPage(wrong, 400, 'Settings', IN_CONSOLE);
  assert.match(wrong.text, /Redirect addresses: /);
  assert.match(wrong.text, /http:\/\/app\.test<\/textarea>/);
  const away = { name: 'Reader', redirectUris: 'https://app.test/back', returnUri: 'https://app.test/other' };
  assert.equal((await browser.submit(path, away)).status, 400);
  const saved = await browser.submit(path, { ...away, returnUri: 'https://app.test/back' });
  assert.equal(saved.status, 200);
  assert.match(saved.text, /The settings were saved/);
  // The form of a page keeps the mode: its proof is for the path, whatever follows it.
  await browser.open(`${path}?mode=sandbox`);
  const inSandbox = await browser.submit(`${path}?mode=sandbox`, { ...away, returnUri: 'https://app.test/back' });
  assert.match(inSandbox.text, /The settings were saved/);
  const app = await owner.get(200, 'GET', `/apps/${apps[0]?.appId}`);
  assert.deepEqual(app['redirectUris'], ['https://app.test/back']);
  assert.equal(app['returnUri'], 'https://app.test/back');
});
