import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertMessage } from '../../../packages/service/src/mail/queries.ts';
import { mailTo, PASSWORD } from '../../support/control.ts';
import { assertPage, IN_CONSOLE, openBrowser } from '../../support/page.ts';
import { scenariosOf } from '../../support/scenarios.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';

const stage = await setStage({
  catalogue: ({ models: [large, ...others], ...rest }) => ({
    models: [large, { ...large, id: 'acme.small-1', providerModel: 'small-upstream' }, ...others],
    ...rest,
  }),
});

const { service, upstream, newUser, callAs } = stage;
const scenarios = scenariosOf(stage);

// First, because what the status page says is kept for some seconds.
test('OP-14 MO-04 the status page shows outages, but no reserved models or providers', async () => {
  const user = await newUser(1_000_000);
  upstream.script({ status: 500, body: '{}' });
  for (let call = 0; call < 3; call += 1) {
    assert.equal((await callAs(user, { seed: call })).status, 502);
  }
  await sql(service)`insert into status.incidents (model, state, began_at, seen_at, ended_at)
    select model, state, now() - age, now() - age + length, now() - age + length
    from (values ('acme.secret-1', 'out', interval '9 days', interval '7 minutes'),
      ('', 'out', interval '8 days', interval '3 hours'), ('acme.small-1', 'slow', interval '2 days', interval '1 minute'),
      ('acme.small-1', 'out', interval '40 days', interval '1 minute')) as v (model, state, age, length)`;
  const browser = openBrowser(service.url);
  const page = await browser.open('/status');
  assertPage(page, 200, 'Some models are down');
  const lines = [...page.text.matchAll(/<li>(.*?)<\/li>/gs)].map(([, line = '']) =>
    line.replaceAll(/<[^>]+>/g, ' ').trim(),
  );
  assert.match(lines.join('\n'), /^acme\.large-1 +large .*Down\nacme\.small-1 +Up\n/);
  assert.match(
    lines.join('\n'),
    /acme\.small-1 was slow for 1 minute\. .*\nThe whole service was down for 3 hours\. .*$/,
  );
  const reply = await browser.ask('/status.json');
  assert.equal(reply.status, 200);
  const { state, models, incidents, isStale } = reply.body as Record<string, readonly Record<string, unknown>[]>;
  assert.deepEqual([state, isStale], ['partial', false]);
  assert.deepEqual(
    models?.map(({ since: _since, ...model }) => model),
    [
      { model: 'acme.large-1', aliases: ['large'], state: 'out' },
      { model: 'acme.small-1', aliases: [], state: 'up' },
    ],
  );
  assert.deepEqual(
    incidents?.filter(({ endedAt }) => endedAt !== null).map(({ about, model, state: was }) => [about, model, was]),
    [
      ['model', 'acme.small-1', 'slow'],
      ['service', null, 'out'],
    ],
  );
  for (const text of [page.text, reply.text]) assert.doesNotMatch(text, /secret|upstream|off-1|micros/);
});

test('PG-06 a development service’s root links its pages', async () => {
  const browser = openBrowser(service.url);
  const page = await browser.open('/');
  assertPage(page, 200, 'Welcome to Purser');
  const links = [...page.text.matchAll(/<a[^>]* href="([^"]+)"/g)].map(([, path = '']) => path);
  assert.deepEqual(links, [
    '/register',
    '/console',
    '/guides/app-developer',
    '/docs',
    '/wallet',
    '/guides/wallet-owner',
    '/dev/mailbox',
    '/sign-in',
    '/status',
  ]);
  for (const path of links) assert.ok([200, 303].includes((await browser.ask(path)).status), path);
});

const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const UNKNOWN = ['/nowhere', '/wallet/x/y/z', '/%zz', '/operator'];
const NOT_FOUND = { as: 'visitor', code: 'NOT_FOUND' } as const;

for (const request of UNKNOWN.map((path) => `GET ${path}`)) {
  scenarios({ as: 'visitor', request }, [
    { name: `ER-01 ${request} gives browsers a page`, headers: { accept }, status: 404, page: 'There is nothing here' },
  ]);
  scenarios({ ...NOT_FOUND, request, name: `ER-01 ${request} gives clients the envelope` }, [
    { headers: { accept: '*/*' } },
    { headers: { accept: 'application/json' } },
    { headers: { accept, authorization: 'Bearer x' } },
  ]);
}

scenarios({ as: 'nobody', code: 'NOT_FOUND' }, [
  {
    name: 'ER-01 what is posted nowhere gets the envelope',
    request: 'POST /nowhere',
    body: 'a=b',
    headers: { accept, 'content-type': 'application/x-www-form-urlencoded' },
  },
]);

test('PG-07 every page names an existing icon', async () => {
  const browser = openBrowser(service.url);
  const [, path = ''] = /<link rel="icon" href="([^"]+)"/.exec((await browser.open('/')).text) ?? [];
  for (const address of [path, '/favicon.ico']) {
    const icon = await browser.ask(address);
    assert.equal(icon.status, 200);
    assert.equal(icon.headers.get('content-type'), 'image/svg+xml');
    assert.match(icon.text, /^<svg [^]*<\/svg>$/m);
  }
});

test('CP-01 the sign-in links to open registering', async () => {
  const browser = openBrowser(service.url);
  assert.match((await browser.open('/sign-in')).text, /<a href="\/register">Create an account<\/a>/);
  await browser.open('/register');
  const email = 'new-owner@example.test';
  assertPage(await browser.submit('/register', { email, 'new-password': PASSWORD }), 200, 'Your apps', IN_CONSOLE);
  assert.match(browser.page().text, /We have e-mailed you a link/);
  assert.match((await browser.open('/account')).text, /new-owner@example\.test/);
  const other = openBrowser(service.url);
  await other.open('/register');
  assertPage(await other.submit('/register', { email, 'new-password': PASSWORD }), 409, 'Create an account');
});

scenarios({ as: 'visitor', status: 400, page: 'Create an account' }, [
  {
    name: 'CP-01 the page to register refuses a short password and no address',
    steps: [
      { request: 'GET /register', status: 200 },
      { request: 'POST /register', form: { email: 'short@example.test', 'new-password': 'short' } },
      { request: 'POST /register', form: { email: 'nobody', 'new-password': PASSWORD } },
    ],
  },
]);

test('PG-06 the mailbox list shows sign-in codes and no link token', async () => {
  const browser = openBrowser(service.url);
  const email = 'codes@example.test';
  await browser.open('/wallet/sign-in');
  await browser.submit('/wallet/sign-in', { email });
  const { token: code } = await mailTo(service, email);
  await insertMessage(service.database.owner, {
    recipient: email,
    subject: 'x',
    html: 'x',
    body: `    ${'t'.repeat(43)}\n`,
  });
  const { text } = await browser.ask('/dev/mailbox');
  assert.ok(text.includes(`<code class="code">${code}</code>`), text);
  assert.ok(!text.includes('ttt'), text);
});
