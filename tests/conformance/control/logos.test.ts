import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sha256 } from '../../../packages/service/src/kernel/crypto/crypto.ts';
import { send } from '../../support/client.ts';
import { newOwner } from '../../support/control.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { scenariosOf } from '../../support/scenarios.ts';
import { setStage } from '../../support/stage.ts';

const stage = await setStage();
const scenarios = scenariosOf(stage);
const { service } = stage;
const { url } = service;
const owner = await newOwner(service);
const stranger = await newOwner(service);
const { appId } = await owner.get(201, 'POST', '/apps', { name: 'Sketchbook' });
const path = `/apps/${String(appId)}/logo`;

/** The part of a picture that states its size: here 64 by 48 pixels. */
const START = {
  png: pngOf(64, 48),
  jpeg: jpegOf(64, 48),
  webp: webpOf(64, 48).VP8X,
};
const BYTES_MAX = 16_384;

function pngOf(width: number, height: number): Buffer {
  const size = Buffer.alloc(8);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  const start = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR', 'latin1');
  return Buffer.concat([start, size, Buffer.from('\x08\x06\0\0\0crc_', 'latin1')]);
}

/** Makes a JPEG with a segment and padding before the frame, as cameras write them. */
function jpegOf(width: number, height: number, frame = '\xc2'): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt16BE(height, 0);
  size.writeUInt16BE(width, 2);
  const start = Buffer.from(`\xff\xd8\xff\xe0\0\x06JFIF\xff\xff${frame}\0\x0b\x08`, 'latin1');
  return Buffer.concat([start, size, Buffer.from('\x01\x01\x11\0', 'latin1')]);
}

function chunkOf(kind: string, data: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`RIFF\x16\0\0\0WEBP${kind}\x0a\0\0\0`, 'latin1'), data]);
}

function webpOf(width: number, height: number) {
  const [canvas, frame, bits] = [
    Buffer.alloc(10),
    Buffer.from('\0\0\0\x9d\x01\x2a\0\0\0\0', 'latin1'),
    Buffer.alloc(10),
  ];
  canvas.writeUIntLE(width - 1, 4, 3);
  canvas.writeUIntLE(height - 1, 7, 3);
  frame.writeUInt16LE(width, 6);
  frame.writeUInt16LE(height, 8);
  bits.writeUInt8(0x2f, 0);
  bits.writeUInt32LE((width - 1) | ((height - 1) << 14), 1);
  return { VP8X: chunkOf('VP8X', canvas), 'VP8 ': chunkOf('VP8 ', frame), VP8L: chunkOf('VP8L', bits) };
}

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

/** The raw bytes of the answer. */
async function fetchLogo(at: string): Promise<{ readonly response: Response; readonly bytes: Buffer }> {
  const response = await fetch(`${url}${at}`);
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

test('CP-02 a PNG, JPEG or WebP logo is served unchanged for ever', async () => {
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

/** Hides a large picture where a reader expects a small one: inside the length that the marker would have. */
function hiddenIn(mark: string): Buffer {
  const [large, small] = [jpegOf(9_999, 9_999).subarray(11), jpegOf(9, 9).subarray(11)];
  const start = Buffer.from(`\xff\xd8\xff${mark}\0${String.fromCharCode(2 + large.length)}`, 'latin1');
  return Buffer.concat([start, large, small]);
}

/** One of every kind. */
function all(width: number, height: number) {
  return [
    ['png', pngOf(width, height)] as const,
    ...['\xc0', '\xc1', '\xcf'].map((frame) => ['jpeg', jpegOf(width, height, frame)] as const),
    ...Object.values(webpOf(width, height)).map((image) => ['webp', image] as const),
  ];
}

test('CP-02 a picture of up to 1,024 pixels is taken', async () => {
  for (const [type, image] of [...all(1, 1024), ...all(1024, 1)]) await put(dataUrl(type, image));
});

const NO_JPEG = Buffer.from('\xff\xd8\xff\xe0\0\x04ab\xff\xda\0\x04abcdefgh', 'latin1');
const SIZELESS: readonly (readonly [type: string, image: Buffer])[] = [
  ...all(1, 1025),
  ...all(1025, 1),
  ...all(16_384, 16_384).filter(([kind]) => kind !== 'webp'),
  ['png', pngOf(0, 1)],
  ['png', pngOf(2 ** 31, 2 ** 31)],
  ['png', Buffer.from(pngOf(1, 1).toString('latin1').replace('IHDR', 'iTXt'), 'latin1')],
  ['png', Buffer.from('\x89PNG\r\n\x1a\n<!doctype html><script>alert(1)</script>', 'latin1')],
  ['jpeg', NO_JPEG],
  // A browser reads no length after such a marker and finds the large picture. A reader that trusts lengths would skip it.
  ...['\xd0', '\xd9', '\x01', '\xda'].map((mark) => ['jpeg', hiddenIn(mark)] as const),
  ['jpeg', jpegOf(1, 1).subarray(0, 16)],
  ['jpeg', jpegOf(1, 1, '\xc4')],
  ['webp', webpOf(1, 1).VP8X.subarray(0, 29)],
  ['webp', Buffer.from('RIFF\x16\0\0\0WEBPANIM\x0a\0\0\0abcdefghij', 'latin1')],
];
const NO_LOGO = { as: owner, request: `PUT ${path}`, code: 'BAD_REQUEST', param: 'image' } as const;

scenarios(
  { ...NO_LOGO, name: 'CP-02 a picture without a size up to 1,024 pixels' },
  SIZELESS.map(([type, image]) => ({ body: { image: dataUrl(type, image) } })),
);

const GOOD = dataUrl('png', picture('png'));
const kept = await put(GOOD);
const base64 = picture('png').toString('base64');
const BAD = {
  'one byte too many': dataUrl('png', picture('png', BYTES_MAX + 1)),
  'far too many': dataUrl('png', picture('png', 2 * BYTES_MAX)),
  svg: dataUrl('svg+xml', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')),
  'svg as png': dataUrl('png', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')),
  'html as png': dataUrl('png', Buffer.from('<!doctype html><script>alert(1)</script>')),
  gif: dataUrl('gif', Buffer.from('GIF89a.')),
  'jpeg as png': dataUrl('png', picture('jpeg')),
  'png as webp': dataUrl('webp', picture('png')),
  'a RIFF that is not WebP': dataUrl('webp', Buffer.from('RIFF\x04\0\0\0WAVE', 'latin1')),
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

scenarios({ as: owner, request: `PUT ${path}` }, [{ name: 'CP-02 a picture is taken', body: { image: GOOD } }]);

scenarios(NO_LOGO, [
  ...Object.entries(BAD).map(([what, image]) => ({ name: `CP-02 no picture: ${what}`, body: { image } })),
  { name: 'CP-02 a number is no picture', body: { image: 7 } },
  {
    name: 'CP-02 a logo has no other fields',
    body: { image: GOOD, alt: 'x' },
    param: 'alt',
  },
]);

test('CP-02 a refused picture leaves the previous logo', async () => {
  assert.equal((await fetchLogo(kept)).response.status, 200);
});

test('AU-06 only its owner can set or remove a logo', async () => {
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

test('CP-02 a shared picture stays as long as one app has it', async () => {
  const other = await owner.get(201, 'POST', '/apps', { name: 'Other' });
  const image = dataUrl('webp', picture('webp', 70));
  const at = await put(image);
  await owner.get(200, 'PUT', `/apps/${String(other['appId'])}/logo`, { image });
  assert.equal((await owner.ask('DELETE', path)).status, 204);
  assert.equal((await fetchLogo(at)).response.status, 200);
});

test('CP-02 no other address under /logos serves a picture', async () => {
  const at = await put(dataUrl('png', picture('png', 80)));
  const digest = at.slice('/logos/'.length);
  const odd = [digest.toUpperCase(), digest.slice(1), `${digest}0`, `${digest}.png`, '...', 'x'];
  for (const name of odd) assertRefusal(await send(`/logos/${name}`, { url }), { code: 'NOT_FOUND' }, name);
});
