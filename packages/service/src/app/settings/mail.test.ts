import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMail } from '#app/settings/mail.ts';
import { readSettings } from '#app/environment/settings-reader.ts';

const FROM = 'purser@example.test';

function read(url: string, from: string = FROM) {
  const settings = readSettings({ SMTP_URL: url, PURSER_MAIL_FROM: from });
  return { mail: readMail(settings), faults: settings.faults() };
}

test('CP-14 a mail server URL is parsed with default ports', () => {
  const from = { name: '', address: FROM };
  const plain = { host: 'mail.test', port: 587, isTlsFirst: false, credentials: undefined, from };
  const { mail, faults } = read('smtp://mail.test');
  assert.deepEqual([mail, faults], [plain, []]);
  assert.deepEqual(read('smtp://mail.test:25/').mail, { ...plain, port: 25 });
  assert.deepEqual(read('smtps://mail.test').mail, { ...plain, port: 465, isTlsFirst: true });
  assert.deepEqual(read('smtp://[::1]:25').mail, { ...plain, host: '::1', port: 25 });
  const credentials = { user: 'me@mail.test', password: 'p@ss/w:rd' };
  assert.deepEqual(read('smtp://me%40mail.test:p%40ss%2Fw%3Ard@mail.test').mail, { ...plain, credentials });
});

test('CP-14 the sender is an address, with or without a name', () => {
  assert.deepEqual(read('smtp://m.test', ' Purser of X <purser@example.test> ').mail?.from, {
    name: 'Purser of X',
    address: FROM,
  });
  for (const from of ['', 'x', 'a@b, c@d', 'A <a@b>, B <c@d>', 'x <>', 'a@b\r\nbcc: c@d', 'A\nB <a@b>']) {
    const { mail, faults } = read('smtp://m.test', from);
    assert.equal(mail, undefined);
    assert.match(faults.join(), /^PURSER_MAIL_FROM must be an address/, from);
  }
});

test('CP-14 an invalid mail server error hides its URL and password', () => {
  for (const url of [
    'x',
    'http://me:word@m.test',
    'smtp://',
    'smtp://m.test/x',
    'smtp://m.test?x',
    'smtp://%zz@m.test',
  ]) {
    const { mail, faults } = read(url);
    assert.equal(mail, undefined);
    assert.match(faults.join(), /^SMTP_URL must look like smtp:\/\/user:password@host:587/, url);
    assert.ok(!faults.join().includes('word@m'));
  }
  assert.deepEqual(readSettings({}).faults(), []);
  assert.equal(readMail(readSettings({ PURSER_MAIL_FROM: FROM })), undefined);
});
