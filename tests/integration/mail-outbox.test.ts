import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pool } from '../../packages/service/src/db/pool/pool.ts';
import { startOutbox } from '../../packages/service/src/mail/outbox.ts';
import { claimMessage, tidyMessages } from '../../packages/service/src/mail/queries.ts';
import type { SendMail } from '../../packages/service/src/mail/smtp.ts';
import { startMailServer } from '../support/mail-server.ts';
import { PERIOD_MS, SECRET, senderTo, setOutboxStage } from '../support/outbox.ts';
import { waitUntil } from '../support/wait-until.ts';

/** When a waiting message is handed over, how often it is tried, and how it ends. */

const { pool, log, logged, mailServer, withOutbox, post, stateOf, ended, tried, set, makeDue } = await setOutboxStage();

test('CP-14 a message’s text is deleted once it is handed over', async () => {
  const server = await mailServer();
  const recipient = await post('Grüße');
  await withOutbox(senderTo(server.url), async () => {
    const { tries, outcome, body, html } = await ended(recipient);
    assert.deepEqual([tries, outcome, body, html], [1, 'taken', null, null]);
  });
  assert.equal(server.received.length, 1);
  const [mail] = server.received;
  assert.deepEqual([mail?.from, mail?.to], ['purser@example.test', [recipient]]);
  assert.equal(mail?.headers.get('from'), 'Purser <purser@example.test>');
  assert.equal(mail?.headers.get('to'), recipient);
  assert.equal(mail?.headers.get('subject'), '=?UTF-8?Q?Gr=C3=BC=C3=9Fe?=');
  assert.equal(mail?.headers.get('auto-submitted'), 'auto-generated');
  assert.equal(mail?.text, `Here: ${SECRET}\n`);
  assert.equal(mail?.html, `<p>Here: ${SECRET}</p>`);
});

test('CP-14 in development the mailbox page keeps the text', async () => {
  const server = await mailServer();
  const recipient = await post();
  await withOutbox(
    senderTo(server.url),
    async () => {
      const { outcome, body, html } = await ended(recipient);
      assert.deepEqual([outcome, body, html], ['taken', `Here: ${SECRET}\n`, `<p>Here: ${SECRET}</p>`]);
    },
    { keepsBodies: true },
  );
});

test('CP-14 an unreachable mail server is retried at growing intervals', async () => {
  const gone = await startMailServer();
  await gone.close();
  const port = Number(new URL(gone.url).port);
  const recipient = await post();
  await withOutbox(senderTo(gone.url), async () => {
    for (const [index, minutes] of [2, 4, 8, 16, 32, 60, 60].entries()) {
      const { waits, outcome } = await tried(recipient, index + 1);
      assert.equal(outcome, null);
      assert.ok(waits > minutes * 60 - 30 && waits <= minutes * 60, `try ${index + 1} waits ${waits} s`);
      await makeDue(recipient);
    }
    const server = await mailServer({ port });
    server.decide({ refuse: 451, at: 'data' }); // It has the message but says that it does not.
    await makeDue(recipient);
    await waitUntil('it came', () => server.received.length > 0);
    server.decide('take');
    await makeDue(recipient);
    assert.equal((await ended(recipient)).outcome, 'taken');
    const keys = server.received.map(({ headers }) => headers.get('message-id'));
    assert.match(keys[0] ?? '', /^<[0-9a-f-]{36}@example\.test>$/);
    assert.ok(keys.length > 1 && keys.every((key) => key === keys[0]));
  });
});

test('CP-14 a failing message does not block others', async () => {
  const server = await mailServer();
  server.decide({ refuse: 451, at: 'recipient' });
  const first = await post();
  await withOutbox(senderTo(server.url), async () => {
    await waitUntil('the message has failed', () => logged('EENVELOPE 451'));
    server.decide('take');
    const second = await post();
    assert.equal((await ended(second)).outcome, 'taken');
    assert.equal((await stateOf(first))?.outcome, null);
    await makeDue(first);
    await ended(first);
  });
});

test('CP-14 permanently rejected messages are given up at once', async () => {
  const server = await mailServer();
  server.decide({ refuse: 550, at: 'recipient' });
  const recipient = await post();
  await withOutbox(senderTo(server.url), async () => {
    const { outcome, tries, body, html } = await ended(recipient);
    assert.deepEqual([outcome, tries, body, html], ['refused', 1, null, null]);
  });
  assert.ok(logged('EENVELOPE 550'));
});

test('CP-14 CP-12 a message is given up after a day, then removed', async () => {
  const server = await mailServer();
  const recipient = await post();
  await set(recipient, `created_at = clock_timestamp() - interval '25 hours'`);
  const older = await post();
  await set(older, `created_at = clock_timestamp() - interval '99 days', ended_at = now(), outcome = 'taken'`);
  for (const keptDays of [0, 100]) await tidyMessages(pool, { keepsBodies: false, keptDays });
  assert.equal((await stateOf(older))?.outcome, 'taken');
  const old = await post();
  await set(old, `created_at = clock_timestamp() - interval '8 days'`);
  await withOutbox(senderTo(server.url), async () => {
    const { outcome, tries, body, html } = await ended(recipient);
    assert.deepEqual([outcome, tries, body, html], ['given_up', 0, null, null]);
    await waitUntil('the old message is gone', async () => (await stateOf(old)) === undefined);
  });
  assert.deepEqual(server.received, []);
});

test('CP-14 several processes hand each message over once', async () => {
  const server = await mailServer();
  const recipients: string[] = [];
  for (let index = 0; index < 60; index += 1) recipients.push(await post());
  const sent = [0, 0, 0];
  const outboxes = sent.map((_none, index) => {
    const send = senderTo(server.url);
    const counting: SendMail = (message) => {
      sent[index] = (sent[index] ?? 0) + 1;
      return send(message);
    };
    return startOutbox({ pool, send: counting, keepsBodies: false, keptDays: 7, log, periodMs: PERIOD_MS });
  });
  for (const recipient of recipients) await ended(recipient);
  for (const outbox of outboxes) await outbox.stop();
  assert.deepEqual(server.received.map(({ to }) => to.join()).toSorted(), recipients.toSorted());
  assert.ok(
    sent.every((count) => count > 0),
    `all processes took part: ${sent.join()}`,
  );
});

test('CP-14 another process takes over a dead one’s message', async () => {
  const server = await mailServer();
  const recipient = await post();
  assert.equal((await claimMessage(pool))?.recipient, recipient); // It does nothing more, as if it had died.
  assert.equal(await claimMessage(pool), undefined);
  await withOutbox(senderTo(server.url), async () => {
    const { waits } = await tried(recipient, 1);
    assert.ok(waits > 90 && waits <= 120);
    await makeDue(recipient);
    assert.equal((await ended(recipient)).tries, 2);
  });
  assert.equal(server.received.length, 1);
});

test('CP-14 a message accepted during outages is sent once', async () => {
  const server = await mailServer();
  const recipient = await post();
  let isAway = true;
  const losing = Object.assign(Object.create(pool) as Pool, {
    query: (...statement: Parameters<Pool['query']>) => {
      const isEnd = statement[0].includes('set ended_at = clock_timestamp(), outcome = $2');
      if (isAway && isEnd) return Promise.reject(new Error('Connection terminated'));
      return pool.query(...statement);
    },
  });
  await withOutbox(
    senderTo(server.url),
    async () => {
      await waitUntil('the message was accepted', () => server.received.length === 1);
      await waitUntil('the record failed', () => logged('Connection terminated'));
      await makeDue(recipient);
      isAway = false;
      assert.equal((await ended(recipient)).tries, 1);
    },
    { on: losing },
  );
  assert.equal(server.received.length, 1);
});
