import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usualOrigin } from '#web/serving/usual-origin.ts';

test('PG-07 a page moves from local names to the mails’ name', () => {
  const own = 'http://127.0.0.1:8787';
  assert.equal(usualOrigin(own, 'localhost:8787'), own);
  assert.equal(usualOrigin(own, '[::1]:8787'), own);
  assert.equal(usualOrigin('http://localhost:8787', '127.0.0.1:8787'), 'http://localhost:8787');
});

test('PG-07 a page stays under other names and ports', () => {
  const own = 'http://127.0.0.1:8787';
  for (const host of ['127.0.0.1:8787', 'localhost:3000', 'localhost', 'pay.example.com:8787', 'a b', '', undefined]) {
    assert.equal(usualOrigin(own, host), undefined, String(host));
  }
  assert.equal(usualOrigin('https://pay.example.com', 'localhost'), undefined);
});
