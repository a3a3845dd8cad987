import { setAccount } from '../../support/database.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LEAST_ROLES } from '../../../packages/contract/src/access.ts';
import { OPERATOR_ACCESS } from '../../../packages/contract/src/operator-access.ts';
import { ensureSignIn } from '../../../packages/service/src/developers/sign-in/ensure-account.ts';
import { sampleOf } from '../../../packages/service/src/http/reference/example.ts';
import { type AppId, newAppId } from '../../../packages/service/src/kernel/values/ids.ts';
import { sql, sqlValue } from '../../support/sql.ts';
import { chat, type Reply, send } from '../../support/client.ts';
import { connectionsOf } from '../../support/connections.ts';
import { newMember, newOperator, newOwner, PASSWORD, signIn } from '../../support/control.ts';
import { readDocument } from '../../support/document.ts';
import { newEvent } from '../../support/events.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { completionBody } from '../../support/scripted-upstream.ts';
import { setStage } from '../../support/stage.ts';
import { expectedOf, newTeam, type Operation, operationsOf } from './callers.ts';

/** Calls every documented route as every kind of caller. Each expected answer follows from a rule, not from a list. */

const { service, upstream } = await setStage();
const { url, database } = service;
const document = readDocument((await send('/openapi.json', { url })).text);
const operations = operationsOf(document);
const takes = (scheme: string) => (operation: Operation) => operation.security.some((one) => scheme in one);
const forSessions = operations.filter(takes('session'));

const owner = await newOwner(service);
const stranger = await newOwner(service);
const operator = await newOperator(service);
const { appId } = (await owner.get(201, 'POST', '/apps', { name: 'Theirs' })) as { appId: AppId };
const { viewer, developer, spare, restore, accountOf, newInvitation, newPendingAct } = await newTeam(
  service,
  appId,
  owner,
);
const disabled = await newMember(service, appId, 'owner');
await setAccount(database.owner, disabled.email, 'is_disabled = true');
const keys = { live: await mint('live'), sandbox: await mint('sandbox') };
await service.fund({ appId, liveKey: keys.live.apiKey, testKey: keys.sandbox.apiKey }, 'anna', 100_000_000);
const usage = { prompt_tokens: 1, completion_tokens: 1 };
upstream.script({ body: completionBody({ model: 'm', content: 'Hi.', usage }) });
const called = await chat({ url, key: keys.live.apiKey, user: 'anna' });
assert.equal(called.status, 200, called.text);

/** People who own wallets: one that operators look up, and one that they move and take a wallet from. */
const connections = connectionsOf(database);
const EMAIL = 'wallets@example.test';
await connections.newIdentity(EMAIL);
const walletOwner = await connections.newIdentity();
await connections.connect({ identity: walletOwner, appId, user: 'anna' });

const asker = 'asker@example.test'; // Of acts that need a second person.
await ensureSignIn(database.owner, { email: asker, password: PASSWORD, name: 'Asker', role: 'operator' });

async function openSession(): Promise<{ readonly token: string | undefined; readonly sessionId: string }> {
  const person = await signIn(service, owner.email);
  const { sessionId } = await person.get(200, 'GET', '/sessions/current');
  return { token: person.token, sessionId: String(sessionId) };
}

async function mint(mode: 'live' | 'sandbox') {
  const { keyId, apiKey } = await owner.get(201, 'POST', `/apps/${appId}/keys`, { mode });
  return { keyId: String(keyId), apiKey: String(apiKey) };
}

async function endedSession(how: string): Promise<string | undefined> {
  const { token, sessionId } = await openSession();
  await database.owner.query(`${how} where session_id = $1`, [sessionId]);
  return token;
}

const past =
  "created_at = clock_timestamp() - interval '2 seconds', expires_at = clock_timestamp() - interval '1 second'";
const CALLERS: Readonly<Record<string, string | undefined>> = {
  nobody: undefined,
  expired: await endedSession(`update accounts.sessions set ${past}`),
  revoked: await endedSession('delete from accounts.sessions'),
  'live key': keys.live.apiKey,
  'test key': keys.sandbox.apiKey,
  'disabled owner': disabled.token,
  stranger: stranger.token,
  viewer: viewer.token,
  developer: developer.token,
  owner: owner.token,
  'listen token': (await owner.get(201, 'POST', `/apps/${appId}/webhook/listen-tokens`))['listenToken'] as string,
  'test token': (await owner.get(201, 'POST', `/apps/${appId}/sandbox/tokens`))['testToken'] as string,
  'operator, viewer': (await newOperator(service, 'viewer')).token,
  'operator, support': (await newOperator(service, 'support')).token,
  'operator, finance': (await newOperator(service, 'finance')).token,
  operator: operator.token,
};

const TOP_UPS = { events: ['topup.completed'] };
const webhook = { endpointUrl: 'https://93.184.215.14/hook', ...TOP_UPS };
/** Before each call, these routes get a new webhook. */
const NEED_WEBHOOK = ['getWebhook', 'putWebhook', 'deleteWebhook', 'rotateWebhookSecret', 'sendTestEvent'];
const MOVES_MEMBERS = ['changeMember', 'removeMember', 'leaveApp', 'getTeam', 'inviteMember', 'getUsage'];
let spareListener: Promise<Readonly<Record<string, unknown>>> | undefined;
let spareSession: ReturnType<typeof openSession> | undefined;
/** The parameters of routes that name something of the owner. Made anew for a call that may end what they name. */
const NAMED: Readonly<Record<string, () => Promise<string> | string>> = {
  appId: () => appId,
  keyId: async () => (await mint('live')).keyId,
  sessionId: async () => (await (spareSession ??= openSession())).sessionId,
  callId: () => called.headers.get('x-service-call-id') ?? '',
  userId: () => 'anna',
  id: () => 'acme.spare-1',
  alias: () => 'spare',
  name: () => 'upstream',
  invitationId: newInvitation,
  listenerId: async () =>
    String(
      (await (spareListener ??= owner.get(201, 'POST', `/apps/${appId}/webhook/listeners`, TOP_UPS)))['listenerId'],
    ),
  listenTokenId: async () =>
    String((await owner.get(201, 'POST', `/apps/${appId}/webhook/listen-tokens`))['listenTokenId']),
  testTokenId: newTestToken,
  identityId: () => walletOwner.identityId,
  accountId: async () => accountOf((await newOwner(service)).email),
  pendingId: () => newPendingAct(asker),
  eventId: () => newEvent(database.owner, appId),
};

/** The test token among the callers. It ends for good when its maker leaves the app. */
const testToken = await sqlValue<object>(
  database,
)`select to_jsonb(t) from accounts.test_tokens t where app_id = ${appId}`;
async function bringTokenBack(): Promise<void> {
  await sql(database)`insert into accounts.test_tokens
    select * from jsonb_populate_record(null::accounts.test_tokens, ${JSON.stringify(testToken)}::jsonb) on conflict do nothing`;
}

/** Its id. The one before goes, because an app has ten at most. */
async function newTestToken(): Promise<string> {
  await sql(database)`delete from accounts.test_tokens where app_id = ${appId} and last_used_at is null`;
  return String((await owner.get(201, 'POST', `/apps/${appId}/sandbox/tokens`))['testTokenId']);
}

/** An endpoint that the guard refuses to dial: nothing leaves this machine, and the answer comes at once. */
async function leadNowhere(): Promise<void> {
  await sql(database)`update webhooks.subscriptions set endpoint_url = 'https://127.0.0.1/hook'
    where app_id = ${appId} and listener_id is null`;
}
const SEPTEMBER = { from: '2026-09-01', to: '2026-10-01' };
/** The report has Stripe's columns, and no movement. */
const EMPTY_REPORT =
  'balance_transaction_id,created_utc,currency,gross,fee,net,reporting_category,source_id,payment_intent_id';

let count = 0;
/** Bodies for routes where the minimum that the document asks for is not enough. */
const BODIES: Readonly<Record<string, () => unknown>> = {
  sendTestEvent: () => ({ type: 'topup.completed' }),
  previewWalletAct: () => ({ act: 'reinstate' }),
  changeApp: () => ({ name: 'Renamed' }),
  compareBill: () => ({ ...SEPTEMBER, provider: 'p', format: 'openrouter', dollarMicros: 1, bill: '{"data":[]}' }),
  reconcile: () => ({ ...SEPTEMBER, report: EMPTY_REPORT }),
  mintKey: () => ({ mode: 'live' }),
  inviteMember: () => ({ email: `invited-${(count += 1)}@example.test`, role: 'viewer' }),
  proveSession: () => ({ password: PASSWORD }),
  moveIdentity: () => ({ email: `moved-${(count += 1)}@example.test`, reason: 'Lost.' }),
  changePassword: () => ({ currentPassword: PASSWORD, newPassword: PASSWORD }),
  openWallet: () => ({ userId: `user-${(count += 1)}` }),
  replaceCatalogue: () => catalogue,
  putModel: () => ({ ...catalogue.models[0], id: 'acme.spare-1' }),
  putProvider: () => catalogue.providers['upstream'],
  putAlias: () => ({ target: 'acme.large-1' }),
  putWebhook: () => webhook,
  createListener: () => TOP_UPS,
  changeAccount: () => ({ role: 'owner', reason: 'Left.' }),
  createAccount: () => ({ email: `made-${(count += 1)}@example.test`, password: PASSWORD, role: 'owner' }),
};
type Catalogue = { readonly models: readonly object[]; readonly providers: Readonly<Record<string, object>> };
const catalogue = (await operator.get(200, 'GET', '/operator/catalogue')) as Catalogue;

/** What a parameter named last. A call that is refused leaves it as it is, so the next one may name it too. */
const lastNamed = new Map<string, string>();

async function nameFor(parameter: string, isAllowed: boolean): Promise<string> {
  const last = lastNamed.get(parameter);
  if (last !== undefined && !isAllowed) return last;
  const made = (await NAMED[parameter]?.()) ?? 'x';
  lastNamed.set(parameter, made);
  return made;
}

/**
 * Makes a call of the operation. If `isAllowed` is set, the call may change something, so what it needs is made before
 * it.
 */
async function call(
  operation: Operation,
  key: string | undefined,
  { more = {}, isAllowed = true }: { more?: Readonly<Record<string, string>>; isAllowed?: boolean } = {},
): Promise<Reply> {
  const { method, operationId, parameters = [], requestBody } = operation;
  if (MOVES_MEMBERS.includes(operationId) && isAllowed) await restore();
  if (NEED_WEBHOOK.includes(operationId) && isAllowed) await owner.ask('PUT', `/apps/${appId}/webhook`, webhook);
  if (operationId === 'sendTestEvent') await leadNowhere();
  // An act that waits for a second person stands in the way of both (CP-07).
  if (['releaseWallet', 'deleteIdentity'].includes(operationId)) await sql(database)`delete from operator.pending_acts`;
  let { path } = operation;
  for (const { name } of parameters.filter((one) => one.in === 'path')) {
    if (name === 'accountId' && path.startsWith('/apps/'))
      path = path.replace('{accountId}', await accountOf(spare.email));
    path = path.replace(`{${name}}`, more[name] ?? (await nameFor(name, isAllowed)));
  }
  const query = parameters
    .filter((one) => one.in === 'query' && one.required)
    .map(({ name }) => (name === 'email' ? `email=${EMAIL}` : `${name}=text`));
  if (operationId === 'listCopies') query.push('waitSeconds=0');
  if (operationId === 'findCalls' || operationId === 'findAnyCalls') query.push('callId=text'); // One of two is required.
  const schema = requestBody?.content['application/json']?.schema;
  const body = schema === undefined ? undefined : (BODIES[operationId]?.() ?? sampleOf(schema));
  if (operationId === 'deleteListener' && [owner.token, developer.token, CALLERS['listen token']].includes(key))
    spareListener = undefined;
  return send(query.length === 0 ? path : `${path}?${query.join('&')}`, {
    url,
    method,
    headers: { 'x-correlation-id': 'one' },
    ...(key === undefined ? {} : { key }),
    ...(body === undefined ? {} : { body }),
  });
}

for (const operation of forSessions) {
  const route = `${operation.method} ${operation.path}`;
  test(`AU-05 AU-06 CP-05 CP-07 ${route} allows exactly the right callers`, async () => {
    const answered: Record<string, number> = {};
    const expected: Record<string, number> = {};
    for (const [caller, token] of Object.entries(CALLERS)) {
      expected[caller] = expectedOf(operation, caller);
      const isAllowed = expected[caller] < 300;
      const { status } = await call(operation, token, { isAllowed });
      answered[caller] = status;
      if (operation.operationId === 'leaveApp' && isAllowed) await restore().then(bringTokenBack);
    }
    assert.deepEqual(answered, expected);
  });
}

test('CP-05 CP-07 every route of an app and of operators names its least role', () => {
  const documented = forSessions.map(({ method, path }) => `${method} ${path}`);
  for (const [table, at] of [
    [LEAST_ROLES, ' /apps/'],
    [OPERATOR_ACCESS, ' /operator/'],
  ] as const) {
    const inTable = Object.keys(table).filter((name) => name.includes(at));
    assert.deepEqual(inTable.toSorted(), documented.filter((name) => name.includes(at)).toSorted());
  }
  assert.ok(forSessions.length >= 30, String(forSessions.length));
});

test('AU-06 another account’s app answers exactly like a missing one', async () => {
  const missing = newAppId();
  const own = forSessions.filter(({ path }) => path.startsWith('/apps/{appId}'));
  assert.ok(own.length >= 8);
  for (const operation of own) {
    const theirs = await call(operation, stranger.token);
    const none = await call(operation, stranger.token, { more: { appId: missing } });
    assertRefusal(theirs, { code: 'NOT_FOUND' }, operation.path);
    assert.equal(theirs.text.replaceAll(appId, missing), none.text, operation.path);
    const heads = [theirs, none].map(({ headers }) => [...headers].filter(([name]) => name !== 'date'));
    assert.deepEqual(heads[0], heads[1], operation.path);
  }
});

test('AU-05 a session opens no data-plane route', async () => {
  const forKeys = operations.filter(takes('apiKey'));
  assert.ok(forKeys.length >= 5);
  for (const operation of forKeys) {
    for (const token of [owner.token, operator.token])
      assertRefusal(await call(operation, token), { code: 'UNAUTHORIZED' }, operation.path);
  }
});

test('AU-05 a route open to anybody ignores tokens', async () => {
  const open = operations.filter(({ security }) => security.length === 0);
  for (const { method, path } of open) {
    const statuses = [];
    for (const key of Object.values(CALLERS)) {
      const request = { url, method, ...(method === 'GET' ? {} : { body: {} }), ...(key === undefined ? {} : { key }) };
      statuses.push((await send(path, request)).status);
    }
    const isElsewhere = path === '/webhooks/stripe'; // This service does not use Stripe.
    assert.deepEqual([...new Set(statuses)], [method === 'GET' ? 200 : isElsewhere ? 404 : 400], path);
  }
});

test('ER-01 HEAD answers as GET does, without a body', async () => {
  for (const operation of forSessions.filter(({ method }) => method === 'GET')) {
    for (const token of [undefined, owner.token, operator.token]) {
      const whole = await call(operation, token);
      const head = await call({ ...operation, method: 'HEAD' }, token);
      assert.deepEqual([head.status, head.text], [whole.status, ''], operation.path);
      assert.equal(head.headers.get('content-type'), whole.headers.get('content-type'), operation.path);
    }
  }
});
