import assert from 'node:assert/strict';
import { test } from 'node:test';
import decodeQR from 'qr/decode.js';
import { qrCode } from '#web/factors/qr-code.ts';

const PIXELS_PER_MODULE = 4;

/** Paints the rectangles of the SVG as a screen does, and returns what a reader reads in the picture. */
function readBack(text: string): string {
  const svg = qrCode(text, 'Scan')?.text ?? '';
  const width = Number(/viewBox="0 0 (\d+)/.exec(svg)?.[1]) * PIXELS_PER_MODULE;
  const data = new Uint8Array(width * width * 4).fill(255);
  for (const [, x, y, length] of svg.matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g)) {
    for (let row = 0; row < PIXELS_PER_MODULE; row += 1) {
      const from = (Number(y) * PIXELS_PER_MODULE + row) * width + Number(x) * PIXELS_PER_MODULE;
      for (let at = from; at < from + Number(length) * PIXELS_PER_MODULE; at += 1) data.fill(0, at * 4, at * 4 + 3);
    }
  }
  return decodeQR({ width, height: width, data });
}

test('CP-06 a reader reads back what a QR code was made of', () => {
  for (const length of [17, 106, 154, 190, 271, 272, 858]) {
    const text = `otpauth://totp/Purser:a%40example.test?secret=${'ABCD2345'.repeat(120)}`.slice(0, length);
    assert.equal(readBack(text), text);
  }
  assert.equal(qrCode('x'.repeat(859), 'Scan'), undefined);
});
