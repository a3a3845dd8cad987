import { sealedEmail, setAccount } from '../../support/database.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { APP_ROLES, isAtLeast, LEAST_ROLES, leastRoleOf } from '../../../packages/contract/src/access.ts';
import {
  isAtLeastOperator,
  OPERATOR_ACCESS,
  OPERATOR_ROLES,
  operatorAccessOf,
} from '../../../packages/contract/src/operator-access.ts';
import type { AppId } from '../../../packages/service/src/kernel/values/ids.ts';
import { proofOf } from '../../../packages/service/src/web/serving/form-proof.ts';
import { httpSend, type Reply } from '../../support/client.ts';
import { newMember, newOperator, newOwner } from '../../support/control.ts';
import { keysOf } from '../../support/keys.ts';
import { assertPage, openBrowser } from '../../support/page.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';

const SECRET = 'a secret of the tests, which makes the proofs of forms';
const { service } = await setStage({ environment: { PURSER_SECRET: SECRET } });

const NO_SESSION = 'a'.repeat(43);

/** Opens a page, or sends it a form with a proof that is right. `token`: of a session that is in force. */
async function visit(
  method: string,
  path: string,
  token: string | undefined,
  query: Readonly<Record<string, string>> = {},
  fields: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const address = Object.keys(query).length === 0 ? path : `${path}?${new URLSearchParams(query).toString()}`;
  const browser = openBrowser(service.url);
  browser.cookies.set('__Host-purser-form', NO_SESSION);
  if (token !== undefined) browser.cookies.set('__Host-purser-session', token);
  if (method === 'GET') return browser.ask(address);
  const proof = proofOf(keysOf(SECRET).proof('page-form'), { value: token ?? NO_SESSION, isNew: false }, path);
  return browser.ask(address, { form: { ...fields, form: proof } });
}

/** Asserts that a page is small once compressed, and is compressed only for visitors that no other site sent. */
async function assertCompressed(path: string, token: string | undefined): Promise<void> {
  const ask = async (site: string | undefined) => {
    const headers = {
      cookie: `__Host-purser-session=${token}`,
      'accept-encoding': 'gzip, br',
      ...(site === undefined ? {} : { 'sec-fetch-site': site }),
    };
    return (await httpSend(service.url, { method: 'GET', path, headers })).headers;
  };
  for (const site of ['same-origin', 'none']) {
    const { length, coding } = sizeOf(await ask(site));
    assert.equal(coding, 'br', path);
    assert.ok(length > 0 && length <= 60_000, `${path}: ${length} bytes`);
  }
  for (const site of ['cross-site', 'same-site', undefined]) assert.equal(sizeOf(await ask(site)).coding, null, path);
}

function sizeOf(headers: Headers) {
  return { length: Number(headers.get('content-length')), coding: headers.get('content-encoding') };
}

test('AU-06 every app page opens for exactly the sufficient roles', async (context) => {
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
  const pages = Object.keys(LEAST_ROLES).filter((name) => name.includes(' /console/'));
  // People who leave are no members any more, so that comes last.
  const names = [
    ...pages.filter((name) => !name.endsWith('/leave')),
    ...pages.filter((name) => name.endsWith('/leave')),
  ];
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
      if (who === 'owner' && method === 'GET' && reply.status === 200)
        await assertCompressed(template.replace(':part', appId), token);
    }
    lines.push(`| ${name} | ${statuses.join(' | ')} |`);
  }
  for (const line of lines) context.diagnostic(line);
  assert.deepEqual(surprises, []);
  assert.ok(names.length >= 4);
});

test('AU-06 a developer makes and revokes only sandbox keys', async () => {
  const owner = await newOwner(service);
  const { appId } = (await owner.get(201, 'POST', '/apps', { name: 'Theirs' })) as { appId: AppId };
  const developer = await newMember(service, appId, 'developer');
  const { keyId: live } = await owner.get(201, 'POST', `/apps/${appId}/keys`, { mode: 'live' });
  const { keyId: sandbox } = await developer.get(201, 'POST', `/apps/${appId}/keys`, { mode: 'sandbox' });
  const path = `/apps/${appId}/keys`;
  await developer.get(403, 'POST', path, { mode: 'live' });
  await developer.get(403, 'PATCH', `${path}/${String(live)}`, { name: 'Mine' });
  await developer.get(403, 'POST', `${path}/${String(live)}/roll`, { overlapSeconds: 0 });
  await developer.get(403, 'DELETE', `${path}/${String(live)}`);
  const revoke = (keyId: unknown, mode: string) =>
    visit('POST', `/console/${appId}/key`, developer.token, { mode, id: String(keyId) }, { act: 'revoke' });
  assert.equal((await revoke(live, 'live')).status, 403);
  assert.equal((await revoke(live, 'sandbox')).status, 404);
  assert.equal((await revoke(sandbox, 'sandbox')).status, 303);
  const { keys } = (await owner.get(200, 'GET', path)) as { keys: { keyId: string; revokedAt: string | null }[] };
  assert.deepEqual(
    keys.map(({ keyId, revokedAt }) => [keyId, revokedAt === null]),
    [
      [live, true],
      [sandbox, false],
    ],
  );
});

test('AU-06 a removed member loses the app with the next request', async () => {
  const owner = await newOwner(service);
  const { appId } = (await owner.get(201, 'POST', '/apps', { name: 'Theirs' })) as { appId: AppId };
  const member = await newMember(service, appId, 'owner');
  await member.get(200, 'GET', `/apps/${appId}`);
  await sql(service)`delete from accounts.members where app_id = ${appId}
    and account_id = (select account_id from accounts.accounts where email = ${sealedEmail(member.email)})`;
  await member.get(404, 'GET', `/apps/${appId}`);
  assertPage(await visit('GET', `/console/${appId}`, member.token), 404);
});

test('AU-06 a disabled account opens nothing of its apps', async () => {
  const owner = await newOwner(service);
  const { appId } = (await owner.get(201, 'POST', '/apps', { name: 'Theirs' })) as { appId: AppId };
  const member = await newMember(service, appId, 'owner');
  await setAccount(service.database.owner, member.email, 'is_disabled = true');
  await member.get(401, 'GET', `/apps/${appId}`);
  assertPage(await visit('GET', `/console/${appId}`, member.token), 303);
});

test('CP-07 every operator page opens for exactly the sufficient roles', async () => {
  const visitors: Record<string, string | undefined> = { nobody: undefined, owner: (await newOwner(service)).token };
  for (const role of OPERATOR_ROLES) visitors[role] = (await newOperator(service, role)).token;
  const pages = Object.keys(OPERATOR_ACCESS).filter((name) => name.includes(' /ops'));
  assert.ok(pages.length >= 1);
  const surprises: string[] = [];
  for (const name of pages) {
    const [method = '', path = ''] = name.split(' ');
    for (const [who, token] of Object.entries(visitors)) {
      const { status, text } = await visit(method, path, token);
      const role = OPERATOR_ROLES.find((one) => one === who);
      const isIn = role !== undefined && isAtLeastOperator(role, operatorAccessOf(name).least);
      const isShown = status === 303 || path.endsWith('/export') || text.includes('<nav class="side"');
      const isRight = isIn
        ? isShown && ![403, 405, 500].includes(status)
        : status === (token === undefined ? 303 : 403);
      if (!isRight) surprises.push(`${name} by ${who}: ${status}`);
    }
  }
  assert.deepEqual(surprises, []);
});
