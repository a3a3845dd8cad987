import { mailsTo, setMails } from '../../support/database.ts';
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { insertMessage } from '../../../packages/service/src/mail/queries.ts';
import { catalogueAt } from '../../support/catalogue.ts';
import { httpSend, type Reply } from '../../support/client.ts';
import { newOwner, type Person, personWith, signIn } from '../../support/control.ts';
import { type MailServer, startMailServer } from '../../support/mail-server.ts';
import { exchangeRaw } from '../../support/raw-http.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { type SecondGateway, startSecondGateway } from '../../support/service.ts';
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.ts';
import { setStage } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** Password resets by mail: over SMTP, and in the mailbox of a development service. */

/** Every process on this database has the same one. */
const SECRET = { PURSER_SECRET: 'a secret of these tests alone, long enough' };
const PRODUCTION = {
  ...SECRET,
  PURSER_ENV: 'production',
  PURSER_PUBLIC_URL: 'https://purser.test',
};
const FROM = 'purser@example.test';

const { service, upstream } = await setStage({ environment: SECRET });
const nobody = personWith(service.url, undefined);

/** The token in the text of a mail: 256 bits of base62. */
function tokenIn(text: string): string {
  const token = /\b[0-9A-Za-z]{43}\b/.exec(text)?.[0];
  assert.ok(token !== undefined, 'the mail holds a token');
  return token;
}

async function setsPassword(person: Person, email: string, token: string): Promise<void> {
  const newPassword = `a new password of ${email}`;
  await person.get(200, 'POST', '/password-resets/use', { token, newPassword });
  await signIn(service, email, newPassword);
}

/** A second gateway that runs during one test. */
async function withGateway(
  environment: Readonly<Record<string, string>>,
  work: (gateway: SecondGateway) => Promise<void>,
): Promise<void> {
  const gateway = await startSecondGateway(service, {
    ...SECRET,
    PURSER_CATALOGUE: 'catalogue.json',
    ...environment,
  });
  try {
    await work(gateway);
  } finally {
    await gateway.close();
  }
}

/** The service in its own process, on the same database, during one test. */
async function withProcess(
  environment: Readonly<Record<string, string>>,
  work: (process: ServiceProcess) => Promise<void>,
): Promise<void> {
  const dataDirectory = mkdtempSync(path.join(os.tmpdir(), 'purser-mail-'));
  const ground = { catalogue: catalogueAt(upstream.baseUrl), databaseUrl: service.database.url };
  const process = await startServiceProcess({ dataDirectory, ...ground, environment: { ...SECRET, ...environment } });
  try {
    await work(process);
  } finally {
    await process.kill();
    rmSync(dataDirectory, { recursive: true, force: true });
  }
}

async function withMailServer(work: (server: MailServer) => Promise<void>): Promise<void> {
  const server = await startMailServer();
  try {
    await work(server);
  } finally {
    await server.close();
  }
}

function mailTo(server: MailServer, email: string) {
  return waitUntil('the mail came', () => server.received.find(({ to }) => to.includes(email)));
}

async function rowsTo(email: string): Promise<readonly { readonly body: string | null }[]> {
  return (await mailsTo(service.database.owner, email)).map(({ body }) => ({ body }));
}

test('CP-01 a reset goes out by SMTP and is neither stored nor logged', async () => {
  await withMailServer(async (server) => {
    await withGateway({ ...PRODUCTION, SMTP_URL: server.url, PURSER_MAIL_FROM: FROM }, async (gateway) => {
      const { email } = await newOwner(service);
      const person = personWith(gateway.url, undefined);
      await person.get(202, 'POST', '/password-resets', { email });
      const mail = await mailTo(server, email);
      assert.deepEqual([mail.from, mail.to], [FROM, [email]]);
      assert.ok(mail.text.includes('https://purser.test'));
      const token = tokenIn(mail.text);
      assert.ok(mail.html?.includes(`/password-reset/use?token=${token}">Choose a new password</a>`), token);
      await setsPassword(person, email, token);
      await waitUntil('the text is gone', async () => (await rowsTo(email)).every(({ body }) => body === null));
      assert.equal((await rowsTo(email)).length, 2); // The other one says that the password was changed.
      for (const secret of [token, email]) assert.ok(!gateway.logged().some((line) => line.includes(secret)));
    });
  });
});

test('CP-14 without a mail server a reset answers alike and alerts the operator', async () => {
  await withProcess({ ...PRODUCTION, PURSER_LOG_LEVEL: 'warn' }, async ({ url, said }) => {
    await waitUntil('the operator is told at the start', () => said().includes('no mail is sent: set SMTP_URL'));
    const { email } = await newOwner(service);
    const reply = await personWith(url, undefined).ask('POST', '/password-resets', { email });
    const unknown = await personWith(url, undefined).ask('POST', '/password-resets', { email: 'x@y.test' });
    assert.deepEqual([reply.status, reply.text], [unknown.status, unknown.text]);
    await waitUntil('the operator is told again', () => said().includes('mail was not sent: SMTP_URL is not set'));
    assert.deepEqual(await rowsTo(email), []);
  });
});

test('CP-14 another process resends a dying process’s mail, recognisably the same', async () => {
  await withMailServer(async (server) => {
    server.decide('hang');
    const environment = { SMTP_URL: server.url, PURSER_MAIL_FROM: FROM };
    const { email } = await newOwner(service);
    await withProcess(environment, async (dying) => {
      await nobody.get(202, 'POST', '/password-resets', { email });
      await mailTo(server, email);
      await dying.kill();
    });
    server.decide('take');
    await withGateway(environment, async () => {
      // As if the two minutes of the dead process’s attempt had passed.
      await setMails(service.database.owner, email, 'next_try_at = clock_timestamp()');
      await waitUntil('the mail came again', () => server.received.length === 2);
    });
    const [first = 'none', second] = server.received.map(({ headers }) => headers.get('message-id'));
    assert.equal(first, second);
  });
});

test('CP-14 waiting mail stays unsent and does not delay a stop', async () => {
  await withMailServer(async (server) => {
    server.decide('hang');
    const environment = { SMTP_URL: server.url, PURSER_MAIL_FROM: FROM };
    const gateway = await startSecondGateway(service, environment);
    const { email } = await newOwner(service);
    await nobody.get(202, 'POST', '/password-resets', { email });
    await mailTo(server, email);
    await gateway.close(); // While the mail server stays silent.
    assert.ok(
      !gateway.logged().some((line) => line.includes('could not be handed to the server')),
      'the stop did not wait for it',
    );
    assert.equal((await rowsTo(email)).length, 1);
  });
});

/** Requests the mailbox page, or another one, under this name of the service. */
function visit(pagePath: string, headers: Readonly<Record<string, string>> = {}, url = service.url): Promise<Reply> {
  return httpSend(url, { method: 'GET', path: pagePath, headers: { host: new URL(url).host, ...headers } });
}

/** The path of the newest message to this address. */
async function pathTo(email: string): Promise<string> {
  return waitUntil('the mailbox lists the mail', async () => {
    const { text } = await visit('/dev/mailbox');
    const item = text.split('<li>').find((one) => one.includes(`to ${email}`));
    return /href="(\/dev\/mailbox\/\d+)"/.exec(item ?? '')?.[1];
  });
}

test('PG-06 the development mailbox shows a working password reset', async () => {
  const { email } = await newOwner(service);
  await nobody.get(202, 'POST', '/password-resets', { email });
  const { text } = await visit(await pathTo(email));
  await setsPassword(nobody, email, tokenIn(text));
});

test('PG-06 the mailbox shows mail inertly, uncached and unframed', async () => {
  const recipient = 'evil@example.test';
  const body = `<script>alert(1)</script> & "quoted" 'x' https://purser.test/x?a=1&b=<b> at https://purser.test.`;
  await insertMessage(service.database.owner, { recipient, subject: '<img src=x onerror=alert(1)>', body, html: body });
  const message = await visit(await pathTo(recipient));
  assert.ok(!/<(script|img|b)\b/.test(message.text), message.text);
  assert.ok(message.text.includes('&#60;script&#62;alert(1)&#60;/script&#62; &#38; &#34;quoted&#34; &#39;x&#39; '));
  const link = 'https://purser.test/x?a=1&#38;b=';
  assert.ok(message.text.includes(`<a href="${link}">${link}</a>&#60;b&#62; at `), message.text);
  assert.ok(message.text.includes('<a href="https://purser.test">https://purser.test</a>.</pre>'), message.text);
  for (const reply of [message, await visit('/dev/mailbox')]) {
    assert.equal(reply.status, 200);
    assert.equal(reply.headers.get('content-type'), 'text/html; charset=utf-8');
    assert.match(
      reply.headers.get('content-security-policy') ?? '',
      /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    assert.equal(reply.headers.get('cache-control'), 'no-store');
    assert.equal(reply.headers.get('referrer-policy'), 'no-referrer');
    assert.equal(reply.headers.get('x-content-type-options'), 'nosniff');
    assert.ok(reply.headers.get('x-correlation-id') !== null);
  }
});

test('PG-06 the mailbox shows a mail’s HTML inert on its own page', async () => {
  const recipient = 'html@example.test';
  const html = '<script>alert(1)</script><form action="/account"><a href="https://purser.test/x">x</a>';
  await insertMessage(service.database.owner, { recipient, subject: 'x', body: 'x', html });
  const path = await pathTo(recipient);
  assert.ok((await visit(path)).text.includes(`<a href="${path}/html">`));
  const letter = await visit(`${path}/html`);
  assert.deepEqual([letter.status, letter.text], [200, html]);
  assert.match(
    letter.headers.get('content-security-policy') ?? '',
    /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox$/,
  );
  for (const [name, value] of [
    ['content-type', 'text/html; charset=utf-8'],
    ['cache-control', 'no-store'],
    ['referrer-policy', 'no-referrer'],
    ['x-content-type-options', 'nosniff'],
  ] as const) {
    assert.equal(letter.headers.get(name), value);
  }
  assertRefusal(await visit(`${path}/html`, { host: 'evil.test' }), { code: 'NOT_FOUND', hasLink: false });
  await setMails(service.database.owner, recipient, 'html = null');
  assertRefusal(await visit(`${path}/html`), { code: 'NOT_FOUND', hasLink: false });
  assert.ok(!(await visit(path)).text.includes('/html"'));
});

/** What proxies and tunnels add. */
const FORWARDING = [
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'forwarded',
  'via',
  'x-real-ip',
  'x-client-ip',
  'true-client-ip',
  'fastly-client-ip',
  'cf-connecting-ip',
];

test('PG-06 the development pages are served only to this machine', async () => {
  const { port } = new URL(service.url);
  for (const host of [`localhost:${port}`, `LOCALHOST`, `[::1]:${port}`, '127.0.0.1', 'purser.localhost']) {
    for (const page of ['/dev/mailbox', '/dev/components'])
      assert.equal((await visit(page, { host })).status, 200, host);
  }
  const strangers = [
    'purser.test', // In PURSER_PUBLIC_URL: such a request came through a proxy.
    'purser.test:1',
    'evil.test',
    `evil.test:${port}`,
    '127.0.0.1.evil.test',
    'localhost.evil.test',
    'evil.test@localhost',
    '::1',
  ];
  const nameless = await exchangeRaw(service.url, 'GET /dev/mailbox HTTP/1.1\r\nconnection: close\r\n\r\n');
  assert.equal(nameless.status, 404);
  const byNginx = await exchangeRaw(service.url, `GET /dev/mailbox HTTP/1.0\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
  assert.equal(byNginx.status, 404, 'nginx speaks HTTP/1.0, under the name of this machine');
  const recipient = 'reader@example.test';
  await insertMessage(service.database.owner, { recipient, subject: 'x', body: 'x', html: 'x' });
  for (const page of ['/dev/mailbox', await pathTo(recipient), '/dev/components']) {
    for (const host of strangers) {
      assertRefusal(await visit(page, { host }), { code: 'NOT_FOUND', hasLink: false }, host);
    }
    for (const header of FORWARDING) {
      assertRefusal(await visit(page, { [header]: '127.0.0.1' }), { code: 'NOT_FOUND', hasLink: false }, header);
    }
  }
});

test('PG-06 a missing message is not found, and the API has no mailbox', async () => {
  for (const id of ['0', '0/html', '999999999999999999', '9999999999999999999999', '-1', 'x', 'x/html', '1%2f2']) {
    assertRefusal(await visit(`/dev/mailbox/${id}`), { code: 'NOT_FOUND', hasLink: false }, id);
  }
  const { paths } = (await visit('/openapi.json')).body as { paths: Record<string, unknown> };
  assert.deepEqual(
    Object.keys(paths).filter((one) => one.startsWith('/dev')),
    [],
  );
});

test('PG-06 production has neither a mailbox nor a component page', async () => {
  await withGateway(PRODUCTION, async ({ url }) => {
    for (const page of ['/dev/mailbox', '/dev/mailbox/1', '/dev/components', '/dev']) {
      assertRefusal(await visit(page, {}, url), { code: 'NOT_FOUND', hasLink: false });
    }
  });
});
