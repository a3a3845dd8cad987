import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { APP_PAGES } from '../../../packages/service/src/web/console/frame/navigation.ts';
import { chat } from '../../support/client.ts';
import { newOwnApp, newOwner } from '../../support/control.ts';
import { assertPage, IN_CONSOLE, signedInBrowser } from '../../support/page.ts';
import { completionBody } from '../../support/scripted-upstream.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { statementsOf } from '../../support/statements.ts';

/** The most statements that one page may run: three for the session and the app, the rest by an index each. */
const STATEMENTS_MAX = 10;
/** One pixel. */
const TINY_PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

const { upstream, service } = await setStage();

test('AU-06 the console shows only own apps and leads strangers to sign-in', async () => {
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
  assertPage(await stranger.open(`/console/${String(appId)}`), 200, 'Sign in', { hasScript: true });
});

test('ER-08 a page refuses an address with NUL', async () => {
  const owner = await newOwner(service);
  const { appId } = await owner.get(201, 'POST', '/apps', { name: 'Reader' });
  const browser = await signedInBrowser(service, owner.email);
  for (const query of ['calls?model=%00', 'calls?model=a%00b', 'sandbox?after=%00', 'keys?%00=a']) {
    assertPage(await browser.open(`/console/${String(appId)}/${query}`), 400);
  }
  assertPage(await browser.open('/sign-in?then=%00'), 400);
});

test('CP-02 an app is made and changed on pages by API rules', async () => {
  const owner = await newOwner(service);
  const browser = await signedInBrowser(service, owner.email);
  await browser.open('/console');
  const refused = await browser.submit('/console', { name: ' ' });
  assertPage(refused, 400, 'Your apps', IN_CONSOLE);
  assert.match(refused.text, /Name: must have at least 1 character/);
  const form = { ...browser.fieldsOf('/console'), name: '<b>Reader' };
  const made = await browser.submit('/console', { name: '<b>Reader' });
  assertPage(made, 200, undefined, IN_CONSOLE);
  assert.match(made.text, /The app was created/);
  assert.match(made.text, /<body class="console sandbox">/);
  const { apps } = (await owner.get(200, 'GET', '/apps')) as { apps: { appId: string; name: string }[] };
  assert.deepEqual(
    apps.map(({ name }) => name),
    ['<b>Reader'],
  );
  // A second press, or the form of a page that was kept, leads to the app that is there already.
  const again = await browser.ask('/console', { form });
  assert.equal(again.headers.get('location'), `/console/${apps[0]?.appId}?mode=sandbox&done=created`);
  assert.equal(((await owner.get(200, 'GET', '/apps'))['apps'] as unknown[]).length, 1);
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
  const app = await owner.get(200, 'GET', `/apps/${apps[0]?.appId}`);
  assert.deepEqual(app['redirectUris'], ['https://app.test/back']);
  assert.equal(app['returnUri'], 'https://app.test/back');
});

test('CC-19 the console shows an app’s calls and what became of them', async () => {
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

  for (const [times, isListed] of [
    ['span=hour', true],
    ['from=2020-01-01T00:00&to=', true],
    ['to=2020-01-01T00:00', false],
    ['span=hour&from=2100-01-01T00:00', false], // What is typed comes before the span.
  ] as const) {
    const narrowed = await browser.open(`${path}/calls?mode=sandbox&${times}`);
    assertPage(narrowed, 200, 'Calls', IN_CONSOLE);
    assert.equal(narrowed.text.includes('id=played'), isListed, times);
  }
  for (const times of ['from=soon', 'to=2020-02-31', 'from=2020-01-02T00:00&to=2020-01-01T00:00']) {
    assertPage(await browser.open(`${path}/calls?mode=sandbox&${times}`), 400, 'Calls', IN_CONSOLE);
  }
  const followed = await browser.open(`${path}/calls?mode=sandbox&span=day&outcome=refused&follow=on`);
  assert.match(followed.text, /<div id="latest" data-live="3">/);
  assert.match(followed.text, /href="[^"]*outcome=refused&#38;span=day">Stop</);
  for (const still of ['', '&follow=on&to=2100-01-01T00:00', '&follow=on&after=1.1']) {
    const page = await browser.open(`${path}/calls?mode=sandbox${still}`);
    assert.ok(page.text.includes('<div id="latest">'), still);
  }

  const one = await browser.open(`${path}/calls?mode=sandbox&id=unknown`);
  assertPage(one, 200, 'One call', IN_CONSOLE);
  assert.match(one.text, /BAD_REQUEST/);
  assert.match(one.text, /Nothing was charged/);
  const paid = await browser.open(`${path}/call?id=paid`);
  assertPage(paid, 200, 'One call', IN_CONSOLE);
  assert.match(paid.text, /was put on hold/);
  assert.match(paid.text, /Returned/);
  for (const strange of ['paid', 'none', 'x'.repeat(300)]) {
    assertPage(await browser.open(`${path}/call?mode=sandbox&id=${strange}`), 404, 'No such call', IN_CONSOLE);
  }
});

test('CP-04 an app’s home sums its calls and names missing setup', async () => {
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
  assert.match(home.text, /<dt>Total time<\/dt><dd>[\d,.]+ m?s<\/dd>/); // The hours before had no calls.
  assert.match(home.text, /<dt>Refused<\/dt><dd>1<\/dd><dd>33 % of calls<\/dd>/);
  assert.match(home.text, /<code>BAD_REQUEST<\/code>/);
  assert.match(home.text, /Set up: 4 of 8/);
  for (const period of ['week', 'month', 'odd']) {
    assertPage(await browser.open(`${path}&period=${period}`), 200, undefined, IN_CONSOLE);
  }
  // Nothing of it is live.
  assert.match((await browser.open(`/console/${app.appId}`)).text, /<dt>Calls<\/dt><dd>0<\/dd>/);

  const live = (user: string) => chat({ url: service.url, key: app.liveKey, user });
  assert.equal((await live('nobody')).status, 402);
  const refused = await waitUntil('the refused call is counted', async () => {
    const page = await browser.open(`/console/${app.appId}`);
    return /<dt>Refused<\/dt><dd>1<\/dd>/.test(page.text) && page;
  });
  assert.match(refused.text, />Make a live call<\/a>/);
  await service.fund(app, 'anna', 10_000_000);
  const usage = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 };
  upstream.script({ body: completionBody({ model: 'm', content: 'Hi.', usage }) });
  assert.equal((await live('anna')).status, 200);
  await waitUntil('the charged call is counted', async () =>
    (await browser.open(`/console/${app.appId}`)).text.includes('Make a live call <span'),
  );
});

test('CP-04 an app’s home compares with the period before', async () => {
  const owner = await newOwner(service);
  const { appId } = await newOwnApp(owner);
  await sql(service)`insert into stats.hours (app_id, mode, hour, model, outcome, calls, charged_micros)
    select ${appId}, 'live', date_trunc('hour', now() - d * interval '1 hour', 'UTC'), 'acme.large-1', 'charged', calls, micros
    from (values (30, 5, 1110000), (20 * 24, 40, 2120000), (40 * 24, 600, 3130000), (70 * 24, 7000, 4140000))
      as v (d, calls, micros)`;
  const browser = await signedInBrowser(service, owner.email);
  for (const [period, calls, before] of [
    ['day', '0', '24 h before: 5'],
    ['week', '5', '7 days before: 0'],
    ['month', '45', '30 days before: 600'],
  ] as const) {
    const { text } = await browser.open(`/console/${appId}?period=${period}`);
    assert.match(text, new RegExp(`<dt>Calls</dt><dd>${calls}</dd><dd>${calls} charged</dd><dd>${before}</dd>`));
  }
  assert.match((await browser.open('/console')).text, /Spent in 30 days<\/span> €3\.23</);
});

test('MO-06 the models page is searched, sorted and paged', async () => {
  const owner = await newOwner(service);
  const { appId } = await newOwnApp(owner);
  const browser = await signedInBrowser(service, owner.email);
  const listed = async (query: string) => {
    const page = await browser.open(`/console/${appId}/models?${query}`);
    assertPage(page, 200, 'Models and prices', IN_CONSOLE);
    return [...page.text.matchAll(/<td data-label="Model"><div><code>([^<]+)</g)].map(([, name = '']) => name).join();
  };
  assert.equal(await listed('q=ACME.+large&sort=context'), 'acme.large-1,large', 'an alias is found by its target');
  assert.equal(await listed('after=acme.large-1'), 'large');
  assert.equal(await listed('provider=none'), '');
  assert.match(browser.page().text, /<option value="acme">/);
});

test('CP-02 a logo is chosen on the settings page', async () => {
  const owner = await newOwner(service);
  const { appId } = await newOwnApp(owner);
  const browser = await signedInBrowser(service, owner.email);
  const path = `/console/${appId}/logo`;
  await browser.open(`/console/${appId}/settings`);
  const fields = browser.fieldsOf(path, 'type="file"');
  const post = async (parts: Readonly<Record<string, string | Blob>>) => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ form: fields['form'] ?? '', ...parts })) {
      if (typeof value === 'string') form.append(name, value);
      else form.append(name, value, 'logo.png');
    }
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { cookie, origin: 'https://purser.test' };
    return fetch(`${service.url}${path}`, { method: 'POST', headers, body: form, redirect: 'manual' });
  };
  const picture = new Blob([new Uint8Array(TINY_PNG)]);
  const saved = await post({ image: picture });
  assert.equal(saved.status, 303, await saved.text());
  const digest = createHash('sha256').update(TINY_PNG).digest('hex');
  assert.ok((await browser.open(`/console/${appId}/settings`)).text.includes(`/logos/${digest}`));
  for (const [image, status] of [
    [new Blob(['<svg/>']), 400],
    [new Blob([]), 400],
    [new Blob([new Uint8Array(16_385)]), 400],
    [new Blob([new Uint8Array(40_000)]), 413],
    ['text', 400],
  ] as const) {
    assert.equal((await post({ image })).status, status);
  }
  assert.equal((await post({ image: picture, form: 'another' })).status, 403);
  const removed = await browser.submit(path, {}, 'name="remove"');
  assert.ok(!removed.text.includes('/logos/'), removed.text);
});

test('CP-04 every page of the console makes a handful of statements', async (t) => {
  const owner = await newOwner(service);
  const { appId } = await newOwnApp(owner);
  const browser = await signedInBrowser(service, owner.email);
  const statements = statementsOf(t);
  for (const { page } of APP_PAGES) {
    const path = `/console/${appId}${page === '' ? '' : `/${page}`}`;
    const made = await statements(async () => assert.equal((await browser.open(path)).status, 200, path));
    assert.ok(made >= 2 && made <= STATEMENTS_MAX, `${path}: ${made}`);
  }
});
