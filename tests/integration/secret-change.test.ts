import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openKeys } from '../../packages/service/src/app/secrets/open-keys.ts';
import { checkChain } from '../../packages/service/src/audit/check-chain.ts';
import { openKeptKeys } from '../../packages/service/src/db/identity/kept-keys.ts';
import { openBrowser } from '../support/page.ts';
import { type CallOptions, chat, send } from '../support/client.ts';
import { newOwnApp, newOwner, PASSWORD, personWith } from '../support/control.ts';
import { addAuthenticator, codeOf, forgetSteps } from '../support/second-factor.ts';
import { type SecondGateway, startSecondGateway } from '../support/service.ts';
import { completionBody } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';
import { waitUntil } from '../support/wait-until.ts';
import { createVerifier, startReceiver } from '../support/webhook-receiver.ts';

/**
 * A change of `PURSER_SECRET` with several gateways on one database: `service` and `former` have the old one, `changed` and `last`
 * the new one.
 */

const OLD = 'the old secret of these tests, long enough';
const NEW = 'the new secret of these tests, long enough';

const { service, upstream } = await setStage({
  environment: { PURSER_SECRET: OLD, PURSER_WEBHOOK_ALLOW_PRIVATE: '1' },
  model: { parameters: ['safety_identifier', 'prompt_cache_key'] },
});
const { owner: database } = service.database;
const usage = { prompt_tokens: 1, completion_tokens: 1 };
upstream.script({ body: completionBody({ model: 'm', content: 'Hi', usage }) });

const receiver = await startReceiver();
const owner = await newOwner(service);
const app = await newOwnApp(owner);
const [redirectUri] = ['https://app.test/back'];
await owner.get(200, 'PATCH', `/apps/${app.appId}`, { redirectUris: [redirectUri] });
await service.fund(app, 'anna', 1_000_000);
await service.fund(app, 'poor', 0);

let former: SecondGateway;
let changed: SecondGateway;
let last: SecondGateway;

/** A gateway with these secrets. */
function start(secret: string, secretAlso?: string): Promise<SecondGateway> {
  const also = secretAlso === undefined ? {} : { PURSER_SECRET_ALSO: secretAlso };
  return startSecondGateway(service, { PURSER_SECRET: secret, ...also, PURSER_WEBHOOK_ALLOW_PRIVATE: '1' });
}

before(async () => {
  former = await start(OLD, NEW);
  changed = await start(NEW, OLD);
  last = await start(NEW);
});

after(async () => {
  await Promise.all([former.close(), changed.close(), last.close(), receiver.close()]);
});

const call = (url: string, user: string, more: Partial<CallOptions> = {}) =>
  chat({ url, key: app.liveKey, user, ...more });

/** The paths of a connect link and a top-up link, and a form, as one gateway makes them. */
async function proofsOf({ url }: { readonly url: string }) {
  const { body } = await send('/connect', { url, key: app.liveKey, user: 'new', body: { redirectUri } });
  const refused = await call(url, 'poor');
  const browser = openBrowser(url);
  await browser.open('/sign-in');
  const links = [body['connectUrl'], refused.body['topupUrl']].map((link) => new URL(String(link)).pathname);
  return { links, form: browser.fieldsOf('/sign-in'), cookies: browser.cookies };
}

/** How another gateway answers them: 200 for a link that holds, 401 for a form that holds, with a wrong password. */
async function answersOf({ url }: { readonly url: string }, proofs: Awaited<ReturnType<typeof proofsOf>>) {
  const browser = openBrowser(url);
  for (const [name, value] of proofs.cookies) browser.cookies.set(name, value);
  const form = { ...proofs.form, email: 'nobody@example.test', password: 'wrong' };
  const opened = [];
  for (const link of proofs.links) opened.push((await browser.ask(link)).status);
  return [...opened, (await browser.ask('/sign-in', { form })).status];
}

test('OP-13 BI-04 gateways accept each other’s links during a change', async () => {
  const [ofOld, ofFormer, ofNew] = [await proofsOf(service), await proofsOf(former), await proofsOf(changed)];
  const held = await answersOf(service, ofOld);
  assert.deepEqual(held, [303, 303, 401]);
  assert.deepEqual(await answersOf(changed, ofOld), held);
  assert.deepEqual(await answersOf(changed, ofFormer), held);
  assert.deepEqual(await answersOf(former, ofNew), held);
  assert.deepEqual(await answersOf(last, ofNew), held);
  assert.deepEqual(await answersOf(last, ofOld), [404, 404, 403]);
});

test('OP-13 CC-14 a retry across a change gets the first answer', async () => {
  const keyed = { headers: { 'idempotency-key': 'one-call' } };
  const first = await call(service.url, 'anna', keyed);
  assert.equal(first.status, 200, first.text);
  const { balance } = await service.wallet(app, 'anna');
  for (const { url } of [former, changed, last]) {
    const again = await call(url, 'anna', keyed);
    assert.deepEqual([again.text, again.headers.get('x-service-replayed')], [first.text, 'true']);
  }
  assert.equal((await service.wallet(app, 'anna')).balance, balance);
});

/** The names that the provider receives for a user and their cache. */
async function namesOf(url: string): Promise<readonly (string | undefined)[]> {
  const reply = await chat({ url, key: app.liveKey, user: 'anna' }, { prompt_cache_key: 'cache' });
  assert.equal(reply.status, 200, reply.text);
  const { body } = upstream.requests.at(-1) ?? assert.fail();
  const { safety_identifier: user, prompt_cache_key: cache } = body as Record<string, string>;
  return [user, cache];
}

test('OP-13 CC-13 a provider’s names for users survive a change', async () => {
  const names = await namesOf(service.url);
  assert.match(names.join(' '), /^[\w-]{43} [\w-]{43}$/);
  assert.deepEqual(await namesOf(changed.url), names);
  assert.deepEqual(await namesOf(last.url), names);
});

test('OP-13 a webhook keeps its secret across a change', async () => {
  const webhook = `/apps/${app.appId}/webhook`;
  const { signingSecret } = await owner.get(201, 'PUT', webhook, {
    endpointUrl: `${receiver.url}/hook`,
    events: ['topup.completed'],
  });
  await personWith(last.url, owner.token).get(200, 'POST', `${webhook}/test`, { type: 'topup.completed' });
  const [one] = receiver.at('/hook');
  assert.equal(one && createVerifier(String(signingSecret))(one, one.atMs), 'accepted');
});

test('OP-13 CP-06 second factors and recovery codes survive a change', async () => {
  const person = await newOwner(service);
  const { secret, recoveryCodes } = await addAuthenticator(person);
  await forgetSteps(service);
  const nobody = personWith(last.url, undefined);
  for (const code of [codeOf(secret), recoveryCodes[0]]) {
    const { signInToken } = await nobody.get(202, 'POST', '/sessions', { email: person.email, password: PASSWORD });
    await nobody.get(200, 'POST', '/pending-sign-ins/use', { signInToken, code });
  }
});

test('OP-13 CP-09 the audit trail keeps its key across a change', async () => {
  const opened = await openKeptKeys(database, { secret: Buffer.from(NEW) }, { isGateway: false });
  assert.ok(opened !== undefined);
  await waitUntil('the gateways have sealed the trail', async () => {
    const { links, waiting } = await checkChain(database, opened.keys['audit-head']);
    return links > 0n && waiting === 0n;
  });
  assert.deepEqual((await checkChain(database, opened.keys['audit-head'])).faults, []);
  await assert.rejects(
    openKeys(database, { secret: Buffer.from(OLD) }, { isGateway: true, say: () => {} }),
    /another PURSER_SECRET.*set the former one as PURSER_SECRET_ALSO/s,
  );
});
