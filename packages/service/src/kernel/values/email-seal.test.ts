import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEmailSeal, SEALED_SHAPE } from '#kernel/values/email-seal.ts';

const emails = createEmailSeal(Buffer.alloc(32, 1));

test('CP-12 sealing an address is deterministic and ignores case', () => {
  const sealed = emails.seal('Anna@example.test');
  assert.equal(sealed, emails.seal('anna@example.test'));
  assert.notEqual(sealed, emails.seal('anne@example.test'));
  assert.match(sealed, new RegExp(SEALED_SHAPE));
  assert.equal(emails.open(sealed), 'anna@example.test');
  assert.equal(sealed.length, emails.seal('a@b.test').length, 'the length says little');
  assert.equal(emails.open(emails.seal('grüße@example.test')), 'grüße@example.test');
  assert.equal(emails.open(emails.seal('')), '');
});

test('CP-12 a text is sealed differently each time', () => {
  const text = 'Your code is 12345678.\n';
  assert.notEqual(emails.sealText(text), emails.sealText(text));
  assert.equal(emails.open(emails.sealText(text)), text);
});

test('CP-12 a text with an address, or looking sealed, is concealed', () => {
  for (const text of ['asked by anna@example.test', 'e1.looks-sealed', emails.seal('a@b.test')]) {
    assert.match(emails.conceal(text), new RegExp(SEALED_SHAPE));
    assert.equal(emails.open(emails.conceal(text)), text);
  }
  assert.equal(emails.conceal('a wallet @ home'), 'a wallet @ home');
});

test('CP-12 a plain text opens as it is', () => {
  for (const text of ['anna@example.test', 'e1.anna@example.test', '']) assert.equal(emails.open(text), text);
});

test('CP-12 text altered or sealed under another key is not opened', () => {
  const sealed = emails.seal('anna@example.test');
  const other = createEmailSeal(Buffer.alloc(32, 2));
  assert.notEqual(other.seal('anna@example.test'), sealed);
  const flipped = `${sealed.slice(0, -1)}${sealed.endsWith('A') ? 'Q' : 'A'}`;
  for (const text of [other.open(sealed), emails.open(flipped)]) assert.match(text, /^unreadable [\w-]{8}$/);
});
