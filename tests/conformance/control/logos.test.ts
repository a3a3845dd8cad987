import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sha256 } from '../../../packages/service/src/kernel/crypto.ts';
import { send } from '../../support/client.ts';
import { newOwner } from '../../support/control.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { setStage } from '../../support/stage.ts';

const { service } = await setStage();
const { url } = service;
const owner = await newOwner(service);
const stranger = await newOwner(service);
const { appId } = await owner.get(201, 'POST', '/apps', { name: 'Sketchbook' });
const path = `/apps/${String(appId)}/logo`;

const START = {
  png: Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
  jpeg: Buffer.from('\xff\xd8\xff\xe0', 'latin1'),
  webp: Buffer.from('RIFF\x04\0\0\0WEBP', 'latin1'),
};
const BYTES_MAX = 16_384;

function picture(kind: keyof typeof START, size = 100): Buffer {
  return Buffer.concat([START[kind], Buffer.alloc(size - START[kind].length, 7)]);
}

function dataUrl(type: string, bytes: Buffer): string {
  return `data:image/${type};base64,${bytes.toString('base64')}`;
}

async function put(image: string): Promise<string> {
  const { logoUrl } = await owner.get(200, 'PUT', path, { image });
  return String(logoUrl).replace('https://purser.test', '');
}

/** The bytes as they came. */
async function fetchLogo(at: string): Promise<{ readonly response: Response; readonly bytes: Buffer }> {
  const response = await fetch(`${url}${at}`);
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

test('CP-02 a logo is a PNG, JPEG or WebP picture, served as just that, for good', async () => {
  for (const kind of ['png', 'jpeg', 'webp'] as const) {
    for (const size of [START[kind].length, BYTES_MAX]) {
      const image = picture(kind, size);
      const at = await put(dataUrl(kind, image));
      assert.equal(at, `/logos/${sha256(image).toString('hex')}`);
      const { response, bytes } = await fetchLogo(at);
      assert.equal(response.status, 200);
      assert.deepEqual(bytes, image);
      const expected = {
        'content-type': `image/${kind}`,
        'content-security-policy': "default-src 'none'; sandbox",
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'public, max-age=31536000, immutable',
      };
      for (const [name, value] of Object.entries(expected)) assert.equal(response.headers.get(name), value, name);
    }
  }
});

test('CP-02 what is no such picture is refused by the name of its field', async () => {
  const at = await put(dataUrl('png', picture('png')));
  const base64 = picture('png').toString('base64');
  const bad = {
    'one byte too many': dataUrl('png', picture('png', BYTES_MAX + 1)),
    'far too many': dataUrl('png', picture('png', 10 * BYTES_MAX)),
    svg: dataUrl('svg+xml', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')),
    'svg as png': dataUrl('png', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')),
    'html as png': dataUrl('png', Buffer.from('<!doctype html><script>alert(1)</script>')),
    gif: dataUrl('gif', Buffer.from('GIF89a.')),
    'jpeg as png': dataUrl('png', picture('jpeg')),
    'png as webp': dataUrl('webp', picture('png')),
    'a RIFF that is no WebP': dataUrl('webp', Buffer.from('RIFF\x04\0\0\0WAVE', 'latin1')),
    'a start cut short': dataUrl('png', picture('png').subarray(0, 7)),
    empty: '',
    'no bytes': 'data:image/png;base64,',
    'no base64': `data:image/png,${base64}`,
    'a charset': `data:image/png;charset=utf-8;base64,${base64}`,
    'base64 of another alphabet': `data:image/png;base64,${base64.slice(0, -4)}__8=`,
    'base64 with a space': `data:image/png;base64, ${base64}`,
    'base64 with spare bits': `data:image/png;base64,${base64.replace(/Bw==$/, 'Bx==')}`,
    'capital letters': `DATA:IMAGE/PNG;BASE64,${base64}`,
    'an address': 'https://example.com/logo.png',
  };
  for (const [name, image] of Object.entries(bad)) {
    assertRefusal(await owner.ask('PUT', path, { image }), { code: 'BAD_REQUEST', param: 'image' }, name);
  }
  assertRefusal(await owner.ask('PUT', path, { image: 7 }), { code: 'BAD_REQUEST', param: 'image' });
  assertRefusal(await owner.ask('PUT', path, { image: dataUrl('png', picture('png')), alt: 'x' }), {
    code: 'BAD_REQUEST',
    param: 'alt',
  });
  assert.equal((await fetchLogo(at)).response.status, 200, 'the one before stays');
});

test('AU-06 a stranger neither sets nor removes it; its owner removes it, and it is gone', async () => {
  const at = await put(dataUrl('png', picture('png', 50)));
  const image = dataUrl('png', picture('png', 60));
  assertRefusal(await stranger.ask('PUT', path, { image }), { code: 'NOT_FOUND' });
  assertRefusal(await stranger.ask('DELETE', path), { code: 'NOT_FOUND' });
  assert.equal((await fetchLogo(at)).response.status, 200);
  const replaced = await put(image);
  assertRefusal(await send(at, { url }), { code: 'NOT_FOUND' });
  for (let times = 0; times < 2; times += 1) assert.equal((await owner.ask('DELETE', path)).status, 204);
  assertRefusal(await send(replaced, { url }), { code: 'NOT_FOUND' });
});

test('a picture that two apps have stays while one of them has it', async () => {
  const other = await owner.get(201, 'POST', '/apps', { name: 'Other' });
  const image = dataUrl('webp', picture('webp', 70));
  const at = await put(image);
  await owner.get(200, 'PUT', `/apps/${String(other['appId'])}/logo`, { image });
  assert.equal((await owner.ask('DELETE', path)).status, 204);
  assert.equal((await fetchLogo(at)).response.status, 200);
});

test('no other address under /logos is one of a picture', async () => {
  const at = await put(dataUrl('png', picture('png', 80)));
  const digest = at.slice('/logos/'.length);
  const odd = [digest.toUpperCase(), digest.slice(1), `${digest}0`, `${digest}.png`, '...', 'x'];
  for (const name of odd) assertRefusal(await send(`/logos/${name}`, { url }), { code: 'NOT_FOUND' }, name);
});
