import assert from 'node:assert/strict';
import { test } from 'node:test';
import { APP_ROLES, isAtLeast, LEAST_ROLES, leastRoleOf } from '../../../packages/contract/src/access.ts';
import { deriveKey } from '../../../packages/service/src/kernel/crypto.ts';
import type { AppId } from '../../../packages/service/src/kernel/ids.ts';
import { proofOf } from '../../../packages/service/src/web/frame/form-proof.ts';
import { openBrowser } from '../../support/browser.ts';
import { chat, type Reply } from '../../support/client.ts';
import { newMember, newOperator, newOwnApp, newOwner } from '../../support/control.ts';
import { assertPage, IN_CONSOLE, signedInBrowser } from '../../support/page.ts';
import { completionBody } from '../../support/scripted-upstream.ts';
import { setStage } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';

const SECRET = 'a secret of the tests, which makes the proofs of forms';
const { upstream, service } = await setStage({ environment: { PURSER_SECRET: SECRET } });

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
  // The form of a page keeps the mode in its address.
  await browser.open(`${path}?mode=sandbox`);
  const inSandbox = await browser.submit(`${path}?mode=sandbox`, { ...away, returnUri: 'https://app.test/back' });
  assert.match(inSandbox.text, /The settings were saved/);
  const app = await owner.get(200, 'GET', `/apps/${apps[0]?.appId}`);
  assert.deepEqual(app['redirectUris'], ['https://app.test/back']);
  assert.equal(app['returnUri'], 'https://app.test/back');
});

const NO_SESSION = 'a'.repeat(43);

/** Opens a page, or sends it an empty form with a proof that is right. `token`: of a session that is in force. */
async function visit(method: string, path: string, token: string | undefined): Promise<Reply> {
  const browser = openBrowser(service.url);
  browser.cookies.set('__Host-purser-form', NO_SESSION);
  if (token !== undefined) browser.cookies.set('__Host-purser-session', token);
  if (method === 'GET') return browser.ask(path);
  const key = deriveKey(Buffer.from(SECRET), 'page-form');
  return browser.ask(path, { form: { form: proofOf(key, { value: token ?? NO_SESSION, isNew: false }, path) } });
}

test('AU-06 every page and form of an app opens for exactly the members whose role suffices', async (context) => {
  const owner = await newOwner(service);
  const { appId } = (await owner.get(201, 'POST', '/apps', { name: 'Theirs' })) as { appId: AppId };
  const visitors = {
    nobody: undefined,
    stranger: (await newOwner(service)).token,
    operator: (await newOperator(service)).token,
    viewer: (await newMember(service, appId, 'viewer')).token,
    developer: (await newMember(service, appId, 'developer')).token,
    owner: owner.token,
  };
  const names = Object.keys(LEAST_ROLES).filter((name) => name.includes(' /console/'));
  const surprises: string[] = [];
  const lines = [
    `| page | ${Object.keys(visitors).join(' | ')} |`,
    `|---|${'---|'.repeat(Object.keys(visitors).length)}`,
  ];
  for (const name of names) {
    const [method = '', template = ''] = name.split(' ');
    const statuses: number[] = [];
    for (const [who, token] of Object.entries(visitors)) {
      const reply = await visit(method, template.replace(':part', appId), token);
      const role = APP_ROLES.find((one) => one === who);
      const isIn = role !== undefined && isAtLeast(role, leastRoleOf(name, 'live'));
      const refused = who === 'nobody' ? 303 : role === undefined ? 404 : 403;
      // What an empty form gets is up to its page, as long as the page does not refuse the sender.
      const isShown = reply.status === 303 || reply.text.includes('<nav class="side"');
      if (isIn ? !isShown || [403, 405, 500].includes(reply.status) : reply.status !== refused) {
        surprises.push(`${name} by ${who}: ${reply.status}, ${isIn ? 'not allowed' : `not ${refused}`}`);
      }
      if (!isIn) assert.ok(!reply.text.includes('Theirs') || reply.status === 403, `${name} shows ${who} the app`);
      statuses.push(reply.status);
    }
    lines.push(`| ${name} | ${statuses.join(' | ')} |`);
  }
  for (const line of lines) context.diagnostic(line);
  assert.deepEqual(surprises, []);
  assert.ok(names.length >= 4);
});

test('AU-06 a member who is removed loses the app with the next request', async () => {
  const owner = await newOwner(service);
  const { appId } = (await owner.get(201, 'POST', '/apps', { name: 'Theirs' })) as { appId: AppId };
  const member = await newMember(service, appId, 'owner');
  await member.get(200, 'GET', `/apps/${appId}`);
  await service.database.owner.query(
    `delete from accounts.members where app_id = $1
     and account_id = (select account_id from accounts.accounts where email = $2)`,
    [appId, member.email],
  );
  await member.get(404, 'GET', `/apps/${appId}`);
  assertPage(await visit('GET', `/console/${appId}`, member.token), 404);
});

test('AU-06 a disabled account opens nothing of the apps that it is a member of', async () => {
  const owner = await newOwner(service);
  const { appId } = (await owner.get(201, 'POST', '/apps', { name: 'Theirs' })) as { appId: AppId };
  const member = await newMember(service, appId, 'owner');
  await service.database.owner.query('update accounts.accounts set is_disabled = true where email = $1', [
    member.email,
  ]);
  await member.get(401, 'GET', `/apps/${appId}`);
  assertPage(await visit('GET', `/console/${appId}`, member.token), 303);
});

test('CC-19 the console lists an app’s calls, and shows what became of one and why', async () => {
  const owner = await newOwner(service);
  const app = await newOwnApp(owner);
  await service.fund(app, 'anna', 10_000_000);
  const call = (key: string, name: string, fields = {}) =>
    chat({ url: service.url, key, user: 'anna', headers: { 'x-correlation-id': name } }, fields);
  assert.equal((await call(app.testKey, 'played')).status, 200);
  assert.equal((await call(app.testKey, 'unknown', { model: 'none-such' })).status, 400);
  const usage = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 };
  upstream.script({ body: completionBody({ model: 'm', content: 'Hi.', usage }) });
  assert.equal((await call(app.liveKey, 'paid')).status, 200);

  const browser = await signedInBrowser(service, owner.email);
  const path = `/console/${app.appId}`;
  const list = await waitUntil('the calls are listed', async () => {
    const page = await browser.open(`${path}/calls?mode=sandbox`);
    return page.text.includes('id=played') && page.text.includes('id=unknown') && page;
  });
  assertPage(list, 200, 'Calls', IN_CONSOLE);
  assert.ok(!list.text.includes('id=paid'));
  const refused = await browser.open(`${path}/calls?mode=sandbox&outcome=refused&user=&model=`);
  assert.ok(refused.text.includes('id=unknown') && !refused.text.includes('id=played'));

  const one = await browser.open(`${path}/calls?mode=sandbox&id=unknown`);
  assertPage(one, 200, 'One call', IN_CONSOLE);
  assert.match(one.text, /BAD_REQUEST/);
  assert.match(one.text, /Nothing was charged/);
  const paid = await browser.open(`${path}/call?id=paid`);
  assertPage(paid, 200, 'One call', IN_CONSOLE);
  assert.match(paid.text, /were set aside/);
  assert.match(paid.text, /Given back/);
  for (const strange of ['paid', 'none', '%00', 'x'.repeat(300)]) {
    assertPage(await browser.open(`${path}/call?mode=sandbox&id=${strange}`), 404, 'No such call', IN_CONSOLE);
  }
});

test('the home of an app sums its calls by what became of them, and says what is left to set up', async () => {
  const owner = await newOwner(service);
  const app = await newOwnApp(owner);
  const call = (fields = {}) => chat({ url: service.url, key: app.testKey, user: 'anna' }, fields);
  for (const fields of [{}, {}, { model: 'none-such' }]) await call(fields);
  const browser = await signedInBrowser(service, owner.email);
  const path = `/console/${app.appId}?mode=sandbox`;
  const home = await waitUntil('the calls are counted', async () => {
    const page = await browser.open(path);
    return /<dt>Calls<\/dt><dd>3<\/dd><dd>2 charged<\/dd>/.test(page.text) && page;
  });
  assertPage(home, 200, undefined, IN_CONSOLE);
  assert.match(home.text, /<dt>Refused<\/dt><dd>1<\/dd><dd>33 % of calls<\/dd>/);
  assert.match(home.text, /<code>BAD_REQUEST<\/code>/);
  assert.match(home.text, /Set up: 4 of 7/);
  for (const period of ['week', 'month', 'odd']) {
    assertPage(await browser.open(`${path}&period=${period}`), 200, undefined, IN_CONSOLE);
  }
  // Nothing of it is live.
  assert.match((await browser.open(`/console/${app.appId}`)).text, /<dt>Calls<\/dt><dd>0<\/dd>/);
});
