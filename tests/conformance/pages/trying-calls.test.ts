import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withVectors } from '../../support/catalogue.ts';
import { newOwnApp, newOwner } from '../../support/control.ts';
import { assertPage, IN_CONSOLE, mainOf, signedInBrowser } from '../../support/page.ts';
import { completionBody, streamSteps } from '../../support/scripted-upstream.ts';
import { setStage } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';

const { upstream, service } = await setStage({ catalogue: withVectors });

test('SB-04 SB-05 SB-07 only the owner manages test users on a page', async () => {
  const owner = await newOwner(service);
  const { appId } = await owner.get(201, 'POST', '/apps', { name: 'Reader' });
  const path = `/console/${String(appId)}/sandbox`;
  const browser = await signedInBrowser(service, owner.email);
  assertPage(await browser.open(path), 200, 'Sandbox', IN_CONSOLE);
  const set = await browser.submit(
    path,
    {
      user: '<b>&u',
      balance: '2,50',
      cap: '1',
      suspended: 'yes',
      wallet: 'other',
    },
    'name="wallet"',
  );
  assertPage(set, 200, 'Sandbox', IN_CONSOLE);
  assert.match(mainOf(set), /The wallet of &#60;b&#62;&#38;u was set/);
  await browser.submit(path, { user: 'v', wallet: 'empty' });
  const inSandbox = `${path}?mode=sandbox`; // The query is no part of what a form proves.
  await browser.open(inSandbox);
  const next = await browser.submit(inSandbox, { user: 'v', next: 'timeout' });
  assert.match(next.text, /<body class="console sandbox">/);
  await browser.open(path);
  assert.match(mainOf(next), /The next call of v will have the outcome timeout/);
  for (const fields of [
    { user: '' },
    { user: 'two words', wallet: 'other' },
    { user: 'v', wallet: 'other', balance: '1.000' },
    { user: 'v', next: 'crash' },
    { user: 'v', wallet: '' }, // A crafted form without a choice resets nothing.
    { user: 'v', wallet: 'fields' },
  ]) {
    assertPage(await browser.submit(path, fields), 400, 'Sandbox', IN_CONSOLE);
  }
  const { users } = (await owner.get(200, 'GET', `/apps/${String(appId)}/sandbox`)) as {
    users: Record<string, unknown>[];
  };
  const shown = users.map(({ userId, balanceMicros, spendCapMicros, suspended, nextOutcome }) => [
    userId,
    balanceMicros,
    spendCapMicros,
    suspended,
    nextOutcome,
  ]);
  assert.deepEqual(shown, [
    ['<b>&u', 2_500_000, 1_000_000, true, null],
    ['v', 0, null, false, 'timeout'],
  ]);
  const stranger = await signedInBrowser(service, (await newOwner(service)).email);
  assertPage(await stranger.open(path), 404);
});

const LIVE_CALL = { mode: 'live', userId: 'anna', model: 'acme.large-1' };
/** A charge that is an amount. */
const CHARGED = /<dt>Charged<\/dt>\s*<dd>[^<]*\d/;

test('CC-10 CC-19 SB-02 the playground makes a whole call and shows all of it', async () => {
  const owner = await newOwner(service);
  const app = await newOwnApp(owner);
  const browser = await signedInBrowser(service, owner.email);
  const page = `/console/${app.appId}/playground`;
  const inSandbox = `${page}?mode=sandbox`;
  const call = { user: 'anna', message: "It's <b>", model: 'acme.large-1', output: '' };
  const empty = await browser.open(inSandbox);
  assertPage(empty, 200, 'Playground', IN_CONSOLE);
  assert.match(mainOf(empty), /<option[^>]*>acme\.large-1</);
  assert.doesNotMatch(mainOf(empty), /vectors/); // It has no form for embeddings.
  const plain = await browser.submit(inSandbox, { ...call, stream: '' });
  assertPage(plain, 200, 'Playground', IN_CONSOLE);
  for (const part of [
    'This is a sandbox answer. No provider was called.',
    'x-service-mode: sandbox',
    'x-service-charge-micros: ',
    'x-ratelimit-limit-requests: ',
    '-H &#39;x-service-user: anna&#39;',
    String.raw`It&#39;\&#39;&#39;s &#60;b&#62;`,
  ]) {
    assert.ok(plain.text.includes(part), `${part}: ${mainOf(plain)}`);
  }
  const streamed = await browser.submit(inSandbox, { ...call, stream: 'yes', output: '4' });
  assert.match(mainOf(streamed), /data: \[DONE\]/);
  assert.match(mainOf(streamed), /This is a sandbox</);
  assert.match(mainOf(streamed), CHARGED);
  const refused = await browser.submit(inSandbox, { ...call, stream: '', model: 'sandbox/throttled' });
  assertPage(refused, 200, 'Playground', IN_CONSOLE);
  assert.match(mainOf(refused), /UPSTREAM_THROTTLED/);
  for (const wrong of [{ user: 'two words' }, { model: 'none-such' }, { message: ' ' }, { output: '0' }]) {
    assertPage(await browser.submit(inSandbox, { ...call, ...wrong }), 400, 'Playground', IN_CONSOLE);
  }

  await service.fund(app, 'anna', 10_000_000);
  const usage = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 };
  upstream.script({ body: completionBody({ model: 'm', content: 'Hi, Anna.', usage }) });
  assertPage(await browser.open(page), 200, 'Playground', IN_CONSOLE);
  const unsure = await browser.submit(page, { ...call, stream: '', confirm: '' });
  assertPage(unsure, 400, 'Playground', IN_CONSOLE);
  const live = await browser.submit(page, { ...call, stream: '', confirm: 'yes' });
  assert.match(mainOf(live), /Hi, Anna\./);
  const [, callId] = /call\?id=([0-9a-f-]{36})/.exec(live.text) ?? [];
  const receipt = await owner.get(200, 'GET', `/apps/${app.appId}/calls/${callId}`);
  assert.equal(receipt['userId'], 'anna');
  assert.ok(Number(receipt['chargedMicros']) > 0);
  upstream.script({ body: streamSteps({ model: 'm', pieces: ['Hi, ', 'Anna.'], usage, includeUsageChunk: true }) });
  const liveStream = await browser.submit(page, { ...call, stream: 'yes', confirm: 'yes' });
  assert.match(mainOf(liveStream), CHARGED);
  assert.match(mainOf(liveStream), /On hold before the call/);
  const { entries } = (await owner.get(200, 'GET', '/accounts/current/audit')) as {
    entries: Record<string, unknown>[];
  };
  const calls = entries.filter(({ action }) => action === 'playground.call');
  assert.deepEqual(
    calls.map(({ after }) => after),
    [LIVE_CALL, LIVE_CALL],
  );
  assert.ok(!JSON.stringify(entries).includes('<b>'), 'nothing of the message is kept');
  await waitUntil('the sums by key have the calls, under a name', async () => {
    const { keys } = (await owner.get(200, 'GET', `/apps/${app.appId}/stats?mode=live`)) as {
      keys: { name?: string; calls: number }[];
    };
    return keys.some(({ name, calls }) => name === 'Playground' && calls === 2);
  });
});
