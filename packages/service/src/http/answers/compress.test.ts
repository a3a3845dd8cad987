import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { codingOf, compress } from '#http/answers/compress.ts';

test('OP-16 the best coding the client accepts is chosen', () => {
  assert.equal(codingOf('gzip, deflate, br, zstd'), 'br');
  assert.equal(codingOf('BR;q=0.1, gzip'), 'br');
  assert.equal(codingOf('br;q=0, gzip;q=1.0'), 'gzip');
  assert.equal(codingOf('gzip; q=0.000, br;q=0.'), undefined);
  for (const none of [undefined, '', 'identity', 'deflate', '*', 'brotli', 'x-gzip'])
    assert.equal(codingOf(none), undefined);
});

test('OP-16 a compressed text is the same text', async () => {
  const text = 'Ä webhook 🪝 '.repeat(1_000);
  assert.equal(brotliDecompressSync(await compress(text, 'br', 'once')).toString(), text);
  assert.equal(brotliDecompressSync(await compress(text, 'br', 'each time')).toString(), text);
  assert.equal(gunzipSync(await compress(text, 'gzip', 'each time')).toString(), text);
});
