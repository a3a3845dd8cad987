import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusalInWords } from '#db/servers/refusal-words.ts';

const URL_OF_PURSER = 'postgres://purser:hidden-word@db.test:5432/books';

for (const [code, message, says] of [
  ['28P01', 'password authentication failed for user "purser"', /refuses the user or the password\. Correct them/],
  ['', 'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string', /refuses the user or the password/],
  ['28000', 'no pg_hba.conf entry for host', /does not let this user in: no line of its pg_hba\.conf/],
  [
    '3D000',
    'database "books" does not exist',
    /does not exist, although the server answers\. Create it with `create database books`/,
  ],
  ['42501', 'permission denied for database "books"', /does not let this user connect\. Run `grant connect/],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'self-signed certificate', /shows a certificate that is not accepted.*sslrootcert/],
  ['', 'The server does not support SSL connections', /speaks no TLS/],
] as const) {
  test(`OP-02 a start says what to do about ${code === '' ? message.slice(0, 12) : code}`, () => {
    const words = refusalInWords(Object.assign(new Error(message), { code }), URL_OF_PURSER) ?? '';
    assert.match(words, says);
    assert.match(words, /^The database books at db\.test:5432 /);
    assert.ok(!words.includes('hidden-word'));
  });
}

test('OP-02 a server that is only away is no refusal', () => {
  for (const code of ['ECONNREFUSED', '57P03', '53300']) {
    assert.equal(refusalInWords(Object.assign(new Error('away'), { code }), URL_OF_PURSER), undefined);
  }
});
