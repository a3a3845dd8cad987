import assert from 'node:assert/strict';
import { test } from 'node:test';
import tls from 'node:tls';
import { insertMessage } from '../../packages/service/src/mail/queries.ts';
import { TEST_CERTIFICATE } from '../support/mail-server.ts';
import { SECRET, senderTo, setOutboxStage } from '../support/outbox.ts';

/** How a message is handed to the mail server, and why its content cannot inject headers or recipients. */

const { pool, logged, mailServer, withOutbox, post, stateOf, ended, tried, makeDue } = await setOutboxStage();

test('CP-14 a wrong password is a temporary failure', async () => {
  const server = await mailServer({ account: { user: 'purser', password: 'p@ss/word' } });
  const recipient = await post();
  await withOutbox(senderTo(server.url.replace('p%40ss', 'wrong')), () => tried(recipient, 1));
  assert.equal((await stateOf(recipient))?.outcome, null);
  assert.ok(logged('EAUTH 535'));
  await makeDue(recipient);
  await withOutbox(senderTo(server.url), () => ended(recipient));
  assert.deepEqual(
    server.received.map(({ user }) => user),
    ['purser'],
  );
});

test('CP-14 mail to another machine requires trusted TLS', {
  skip: process.platform !== 'linux',
}, async () => {
  // Linux has 127.0.0.2, which stands in for another machine here.
  const account = { user: 'purser', password: 'the-password' };
  const plain = await mailServer({ host: '127.0.0.2', account });
  const encrypted = await mailServer({ host: '127.0.0.2', account, certificate: TEST_CERTIFICATE });
  const recipient = await post();
  for (const [url, code] of [
    [plain.url, 'ETLS 500'],
    [encrypted.url, 'ESOCKET'],
  ] as const) {
    assert.deepEqual(await senderTo(url)({ key: 'key', recipient, subject: 'x', body: SECRET, html: undefined }), {
      result: 'failed',
      code,
    });
  }
  assert.deepEqual([plain.received, encrypted.received], [[], []]);
  const trusted = tls.getCACertificates('default');
  tls.setDefaultCACertificates([...trusted, TEST_CERTIFICATE.cert]);
  try {
    await withOutbox(senderTo(encrypted.url), () => ended(recipient));
  } finally {
    tls.setDefaultCACertificates(trusted);
  }
  assert.deepEqual(
    encrypted.received.map(({ isEncrypted, user }) => [isEncrypted, user]),
    [[true, 'purser']],
  );
});

test('CP-14 a recipient is one address, a subject one line', async () => {
  const good = { recipient: 'reader-x@example.test', subject: 'x', body: 'x', html: 'x' };
  for (const recipient of [
    'a@example.test, b@example.test',
    'a@example.test;b@example.test',
    'a@example.test\r\nbcc: b@example.test',
    'a@example.test\nb',
    'A <a@example.test>',
    '"a"@example.test',
    'group: a@example.test',
    'a b@example.test',
    'a@b@example.test',
    'a@',
    '@b',
    'a',
    '',
    `${'a'.repeat(250)}@b.test`,
  ]) {
    await assert.rejects(insertMessage(pool, { ...good, recipient }), /must go to one address/, recipient);
  }
  for (const subject of ['', 'x\r\nbcc: b@example.test', 'x\ny', 'x\u0001', 'x'.repeat(201)]) {
    await assert.rejects(insertMessage(pool, { ...good, subject }), /must be one line/, subject);
  }
});

test('CP-14 a line break adds no header on the wire', async () => {
  const server = await mailServer();
  const recipient = 'reader-y@example.test';
  const subject = 'x\r\nbcc: evil@example.test';
  await senderTo(server.url)({
    key: 'key',
    recipient,
    subject,
    body: 'x\r\n.\r\nMAIL FROM:<evil@example.test>',
    html: undefined,
  });
  await senderTo(server.url)({
    key: 'key',
    recipient: `${recipient}>, <evil@example.test`,
    subject: 'x',
    body: 'x',
    html: 'x',
  });
  assert.deepEqual(
    server.received.map(({ to, headers }) => [to, headers.has('bcc')]),
    [[[recipient], false]],
  );
});
