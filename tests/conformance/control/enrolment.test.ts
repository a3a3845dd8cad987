import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enrolmentKeys, makeEnrolmentCode } from '../../../packages/service/src/developers/factors/enrolment.ts';
import { LEAST_ROLES } from '../../../packages/contract/src/access.ts';
import { OPERATOR_ACCESS } from '../../../packages/contract/src/operator-access.ts';
import { proofOf } from '../../../packages/service/src/web/serving/form-proof.ts';
import { httpSend, type Reply } from '../../support/client.ts';
import { newOperator, newOwner, PASSWORD, type Person, personWith, signIn } from '../../support/control.ts';
import { keysOf } from '../../support/keys.ts';
import { type MailServer, startMailServer } from '../../support/mail-server.ts';
import { assertPage, IN_CONSOLE, openBrowser, signedInBrowser } from '../../support/page.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { codeOf, newsTo } from '../../support/second-factor.ts';
import { type SecondGateway, startSecondGateway } from '../../support/service.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** The first second factor of an operator, and what operators are mailed. */

const SECRET = { PURSER_SECRET: 'a secret of these tests alone, long enough' };
/** The former one, under which a code may have been printed. */
const SECRET_ALSO = { PURSER_SECRET_ALSO: 'a former secret of these tests, long enough' };
const PRODUCTION = {
  ...SECRET,
  ...SECRET_ALSO,
  PURSER_ENV: 'production',
  PURSER_CATALOGUE: 'catalogue.json',
  PURSER_ACCOUNT_RATE_PER_MINUTE: '1000000',
  PURSER_ACCOUNT_RATE_BURST: '1000000',
};
const FORMS = keysOf(SECRET.PURSER_SECRET).proof('page-form');
const { service } = await setStage({ environment: SECRET });

/** A gateway in production, with mail. */
async function inProduction(work: (gateway: SecondGateway, server: MailServer) => Promise<void>): Promise<void> {
  const server = await startMailServer();
  const gateway = await startSecondGateway(service, {
    ...PRODUCTION,
    PURSER_MAIL_FROM: 'purser@example.test',
    SMTP_URL: server.url,
  });
  try {
    await work(gateway, server);
  } finally {
    await gateway.close();
    await server.close();
  }
}

/** The mail with this part of a subject. */
function mailTo(server: MailServer, email: string, words: string) {
  const isIt = ({ to, headers }: MailServer['received'][number]) =>
    to.includes(email) && headers.get('subject')?.includes(words);
  return waitUntil('the mail came', () => server.received.find(isIt));
}

async function accountOf(person: Person): Promise<{ readonly email: string; readonly accountId: string }> {
  const { account } = (await person.get(200, 'GET', '/sessions/current')) as {
    account: { email: string; accountId: string };
  };
  return account;
}

/** Adds an authenticator app, with the code for the first factor of an operator if one is given. */
async function addApp(by: Person, enrolmentCode?: string): Promise<Reply> {
  const { secret, setupToken } = await by.get(200, 'POST', '/accounts/current/authenticator');
  const code = { code: codeOf(String(secret)), ...(enrolmentCode === undefined ? {} : { enrolmentCode }) };
  return by.ask('PUT', '/accounts/current/authenticator', { setupToken, ...code });
}

function assertNoCode(reply: Reply): void {
  assertRefusal(reply, { code: 'BAD_REQUEST', param: 'enrolmentCode' }, reply.text);
}

test('CP-06 an operator’s password adds no second factor without the mailed code', async () => {
  await inProduction(async (gateway, server) => {
    const [operator, colleague] = [await newOperator(service), await newOperator(service)];
    const { email, accountId } = await accountOf(operator);
    const stolen = personWith(gateway.url, operator.token);
    for (const [method, path, body] of [
      ['GET', '/operator/apps'],
      ['GET', '/apps'],
      ['POST', '/apps', { name: 'Mine' }],
      ['GET', '/accounts/current/audit'],
      ['PUT', '/accounts/current/password', { currentPassword: PASSWORD, newPassword: 'a password of mine' }],
    ] as const) {
      assertRefusal(await stolen.ask(method, path, body), { code: 'FORBIDDEN' }, path);
    }
    for (const code of [undefined, '', 'aaaaa-aaaaa', '123456']) assertNoCode(await addApp(stolen, code));

    const browser = openBrowser(gateway.url);
    browser.cookies.set('__Host-purser-session', operator.token ?? '');
    for (const path of ['/console', '/invitation']) {
      assert.match((await browser.open(path)).text, /First you need a code/);
    }
    assert.match((await browser.submit('/account/second-factor/code')).text, /We have e-mailed you a code/);
    const mail = await mailTo(server, email, 'Your code');
    const code = /\b[0-9a-z]{5}-[0-9a-z]{5}\b/.exec(mail.text)?.[0] ?? '';
    const guesser = personWith(gateway.url, colleague.token);
    for (let guess = 0; guess < 10; guess += 1) assertNoCode(await addApp(guesser, code));
    assertRefusal(await addApp(guesser, code), { code: 'TOO_MANY_REQUESTS' }, 'the eleventh guess');
    assert.match((await browser.open('/account/authenticator')).text, /name="enrolment"/);
    const added = await addApp(stolen, code);
    assert.equal((added.body['recoveryCodes'] as unknown[]).length, 10, added.text);
    await stolen.get(200, 'GET', '/operator/apps');
    await mailTo(server, email, 'An authenticator app was added');

    // An admin removes the factor of a person who has lost it: then the password alone is worth nothing again.
    const change = { secondFactor: 'none', reason: 'lost' };
    await colleague.get(200, 'PATCH', `/operator/accounts/${accountId}`, change);
    const again = personWith(gateway.url, (await signIn(service, email)).token);
    for (const used of [undefined, code]) assertNoCode(await addApp(again, used));
    const keys = enrolmentKeys(keysOf(SECRET_ALSO.PURSER_SECRET_ALSO).proof);
    const printed = await makeEnrolmentCode(service.database.owner, keys, email);
    assert.equal((await addApp(again, printed)).status, 200);
    assert.equal(await makeEnrolmentCode(service.database.owner, keys, email), undefined);
    assert.equal((await addApp(personWith(gateway.url, (await newOwner(service)).token))).status, 200);
  });
});

test('CP-06 no production route or page opens for an operator’s password alone', async () => {
  const gateway = await startSecondGateway(service, PRODUCTION);
  try {
    const operator = await newOperator(service);
    const { accountId } = await accountOf(operator);
    const ask = async (name: string) => {
      const [method = '', template = ''] = name.split(' ');
      const path = template.replaceAll(/\{\w+\}|:part/g, 'x');
      const isPage = /^\/(ops|console)/.test(path);
      const proof = proofOf(FORMS, { value: operator.token ?? '', isNew: false }, path);
      const form = { origin: 'https://purser.test', 'content-type': 'application/x-www-form-urlencoded' };
      return httpSend(gateway.url, {
        method,
        path,
        headers: {
          host: 'purser.test',
          ...(isPage
            ? { cookie: `__Host-purser-session=${operator.token}`, ...(method === 'GET' ? {} : form) }
            : { authorization: `Bearer ${operator.token}` }),
        },
        ...(isPage && method !== 'GET' ? { body: new URLSearchParams({ form: proof }).toString() } : {}),
      });
    };
    for (const name of [...Object.keys(OPERATOR_ACCESS), ...Object.keys(LEAST_ROLES)]) {
      const { status, headers } = await ask(name);
      const isLed = status === 303 && headers.get('location') === '/account/second-factor';
      assert.ok(status === 403 || isLed, `${name}: ${status}`);
    }
    await sql(service)`insert into accounts.authenticators (account_id, secret, last_step)
      values (${accountId}, '\\x00', 0)`;
    const { database } = service;
    await sql(database)`update accounts.sessions set proved_at = proved_at - interval '11 minutes'
      where account_id = ${accountId}`;
    for (const [name, { needsProof }] of Object.entries(OPERATOR_ACCESS)) {
      const { status, text } = await ask(name);
      const isAsked = status === 403 && /fresh proof|Not done yet/.test(text);
      assert.equal(isAsked, needsProof === true, `${name}: ${status}`);
      const back = /href="([^"]+)">Back without sending/.exec(text)?.[1];
      if (back === undefined) continue;
      const [page = ''] = back.split('?');
      assert.ok(`GET ${page}` in OPERATOR_ACCESS, `${name}: the page leads back to ${page}`);
    }
  } finally {
    await gateway.close();
  }
});

test('CP-07 operators are mailed about their first sign-in and role changes', async () => {
  const [operator, colleague] = [await newOperator(service), await newOperator(service)];
  const { email, accountId } = await accountOf(colleague);
  await signIn(service, email);
  const change = { operatorRole: 'support', reason: 'New duties.' };
  await operator.get(200, 'PATCH', `/operator/accounts/${accountId}`, change);
  const [signedIn, changed] = await newsTo(service, email);
  assert.match(signedIn ?? '', /^A new sign-in to your account\n/);
  assert.match(changed ?? '', /^Your role was changed\n[^]*“support”/);
});

test('CP-10 CP-06 a form with a stale proof is kept and resent after proof', async () => {
  const admin = await newOperator(service);
  const { email, accountId } = await accountOf(admin);
  const browser = await signedInBrowser(service, email, 'Overview');
  const form = {
    email: 'typed@example.test',
    password: 'typed & "kept"',
    role: 'support',
    'reason-create': 'A long\nreason',
  };
  await browser.open('/ops/accounts');
  const db = service.database.owner;
  await sql(db)`insert into accounts.authenticators (account_id, secret, last_step) values (${accountId}, 'x', 0)`;
  const proveBefore = (age: string) =>
    db.query(`update accounts.sessions set proved_at = clock_timestamp() - $2::interval where account_id = $1`, [
      accountId,
      age,
    ]);
  await proveBefore('11 minutes');
  for (let times = 0; times < 2; times += 1) {
    const unsent = await browser.submit('/ops/accounts', times === 0 ? form : {});
    assertPage(unsent, 403, 'Not done yet');
    assert.ok(unsent.text.includes('href="/account/prove?then=%2Faccount%2Fprove%3Fdone%3Dtrue" target="_blank"'));
    const kept = browser.fieldsOf('/ops/accounts');
    assert.deepEqual({ ...kept, ...form }, kept);
  }
  await proveBefore('1 minute');
  const other = await browser.ask('/account/prove?then=%2Faccount%2Fprove%3Fdone%3Dtrue');
  assert.equal(other.headers.get('location'), '/account/prove?done=true');
  assert.match(
    (await browser.ask('/account/prove?done=true')).text,
    /<h1>Confirmed<.*[^]*go back to the tab with your form/,
  );
  assertPage(await browser.submit('/ops/accounts'), 200, 'typed@example.test', IN_CONSOLE);
  await signIn(service, 'typed@example.test', 'typed & "kept"');
});
