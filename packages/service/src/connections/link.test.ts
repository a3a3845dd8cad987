import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLinks, type Link, redirectName } from '#connections/link.ts';
import { type EndUserId, newAppId } from '#kernel/values/ids.ts';
import { proofsOf } from '#kernel/crypto/keys.ts';
import { micros } from '#kernel/values/micros.ts';
import { randomBase62, randomBytes } from '#kernel/crypto/random.ts';

const LIFETIME_MS = 15 * 60 * 1_000;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'.split('');

/** The time is not a whole second, because expiries are whole seconds and rounding must show. */
const clock = { nowMs: () => now };
let now = 1_900_000_000_500;
const options = { keysOf: proofsOf({ secret: randomBytes(32) }), publicUrl: 'https://purser.test', clock };
const links = createLinks(options);
const subject = { appId: newAppId(), userId: 'anna' as EndUserId };
const asked = { ...subject, redirect: redirectName('https://app.test/back?a=1'), state: 'state ü', userLabel: 'Anna' };

type Page = 'topup' | 'connect';
const PAGES = ['topup', 'connect'] as const;
const PURPOSES = ['topup', 'cap', 'connect'] as const;

function pageOf(purpose: (typeof PURPOSES)[number]): Page {
  return purpose === 'connect' ? 'connect' : 'topup';
}

function tokenOf(purpose: (typeof PURPOSES)[number], from = links): string {
  const url = purpose === 'connect' ? from.connect(asked).url : from[purpose](subject, micros(77n));
  const start = `https://purser.test/${pageOf(purpose)}/`;
  assert.ok(url.startsWith(start), url);
  return url.slice(start.length);
}

/** A link without the fields that differ each time. */
function claimsOf({ digest: _, expiresAtMs: __, endsAtMs: ___, ...claims }: Link) {
  return claims;
}

test('BI-04 a link contains its contents, and no two are alike', () => {
  const said = PURPOSES.map((purpose) => links.read(pageOf(purpose), tokenOf(purpose)));
  assert.deepEqual(
    said.map((link) => link && claimsOf(link)),
    [
      { ...subject, purpose: 'topup', least: 77n },
      { ...subject, purpose: 'cap', least: 77n },
      { ...asked, purpose: 'connect' },
    ],
  );
  const least = links.read('topup', links.topup(subject).slice('https://purser.test/topup/'.length));
  assert.deepEqual(least && claimsOf(least), { ...subject, purpose: 'topup', least: undefined });
  const bare = { ...asked, state: undefined, userLabel: undefined };
  const token = links.connect(bare).url.slice('https://purser.test/connect/'.length);
  assert.deepEqual(claimsOf(links.read('connect', token) ?? assert.fail()), { ...bare, purpose: 'connect' });
  const digests = Array.from({ length: 100 }, () => links.read('topup', tokenOf('topup'))?.digest.toString('hex'));
  assert.equal(new Set(digests).size, 100);
});

test('BI-04 a link reveals neither its user nor target', () => {
  for (const purpose of PURPOSES) {
    const bytes = Buffer.from(tokenOf(purpose), 'base64url').toString('latin1');
    for (const word of ['anna', 'Anna', subject.appId, purpose, asked.redirect, 'state']) {
      assert.ok(!bytes.includes(word), `${purpose} ${word}`);
    }
  }
});

test('BI-04 links for equally long names are equally long', () => {
  const other = { appId: newAppId(), userId: 'otto' as EndUserId };
  assert.equal(links.topup(subject, micros(12n)).length, links.topup(other, micros(99n)).length);
});

test('BI-04 a link with any one bit changed is not valid', () => {
  for (const purpose of PURPOSES) {
    const token = tokenOf(purpose);
    const bytes = Buffer.from(token, 'base64url');
    assert.ok(bytes.length * 8 > 600, `${purpose}: ${bytes.length * 8} bits`);
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const altered = Buffer.from(bytes);
      altered.writeUInt8(altered.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      for (const page of PAGES) {
        assert.equal(links.read(page, altered.toString('base64url')), undefined, `${purpose}: bit ${bit}`);
      }
    }
    assert.notEqual(links.read(pageOf(purpose), token), undefined);
  }
});

test('BI-04 a link with any one character edited is not valid', () => {
  for (const purpose of PURPOSES) {
    const page = pageOf(purpose);
    const token = tokenOf(purpose);
    for (let at = 0; at < token.length; at += 1) {
      const others = at === token.length - 1 ? ALPHABET : ['A', 'B'];
      for (const character of others.filter((one) => one !== token[at])) {
        const altered = token.slice(0, at) + character + token.slice(at + 1);
        // The last character has unused bits. A different value there must be refused as well.
        assert.equal(links.read(page, altered), undefined, `${purpose}: ${at} ${character}`);
      }
      assert.equal(links.read(page, token.slice(0, at) + token.slice(at + 1)), undefined);
    }
    for (const extra of [`${token}A`, `${token}=`, `${token}==`, ` ${token}`, `${token}\n`, `A${token}`, `${token}.`]) {
      assert.equal(links.read(page, extra), undefined, JSON.stringify(extra));
    }
    const standard = token.replaceAll('-', '+').replaceAll('_', '/');
    if (standard !== token) assert.equal(links.read(page, standard), undefined);
  }
});

test('BI-04 a token has only one valid last character', () => {
  // All lengths, so that every number of unused bits occurs.
  for (const name of ['a', 'an', 'ann', 'anna']) {
    const url = links.topup({ ...subject, userId: name as EndUserId });
    const token = url.slice(url.lastIndexOf('/') + 1);
    const twins = ALPHABET.filter((last) => links.read('topup', token.slice(0, -1) + last) !== undefined);
    assert.deepEqual(twins, [token.at(-1)]);
  }
});

test('BI-04 a link works fifteen minutes, to the second', () => {
  for (const purpose of PURPOSES) {
    const issuedAt = now;
    const token = tokenOf(purpose);
    const read = () => links.read(pageOf(purpose), token);
    const expiresAtMs = read()?.expiresAtMs ?? assert.fail();
    assert.equal(expiresAtMs, Math.floor(issuedAt / 1_000) * 1_000 + LIFETIME_MS);
    if (purpose === 'connect') assert.equal(links.connect(asked).expiresAtMs, expiresAtMs);
    for (const [at, isGood] of [
      [expiresAtMs - 1_000, true],
      [expiresAtMs - 1, true],
      [expiresAtMs, false],
      [expiresAtMs + 1_000, false],
      [expiresAtMs + 24 * 60 * 60 * 1_000, false],
      [issuedAt - 120_000, true], // Another process’s clock.
      [issuedAt - 122_000, false],
    ] as const) {
      now = at;
      assert.equal(read() !== undefined, isGood, `${purpose}: ${at - expiresAtMs} ms`);
    }
    now = issuedAt;
  }
});

test('BI-04 only an expired connect link leads back two more hours', () => {
  const issuedAt = now;
  const token = tokenOf('connect');
  const expiresAtMs = links.read('connect', token)?.expiresAtMs ?? assert.fail();
  const others = [
    tokenOf('topup'),
    tokenOf('cap'),
    tokenOf('connect', createLinks({ ...options, keysOf: proofsOf({ secret: randomBytes(32) }) })),
  ];
  for (const [at, isGood] of [
    [issuedAt, true],
    [expiresAtMs, true],
    [expiresAtMs + 7_199_999, true],
    [expiresAtMs + 7_200_000, false],
  ] as const) {
    now = at;
    assert.equal(links.readPast(token) !== undefined, isGood, String(at - expiresAtMs));
    for (const other of others) assert.equal(links.readPast(other), undefined);
  }
  now = issuedAt;
});

test('BI-04 a renewed link is spent with the first', () => {
  const issuedAt = now;
  for (const purpose of PURPOSES) {
    const page = pageOf(purpose);
    const read = (token: string) => links.read(page, token);
    const first = read(tokenOf(purpose)) ?? assert.fail();
    const end = first.expiresAtMs + 30 * 60_000;
    let last = first;
    for (now = first.expiresAtMs - 1_000; now < end; now = last.expiresAtMs - 1_000) {
      const path = links.renew(last);
      assert.ok(path.startsWith(`/${page}/`));
      const renewed = read(path.slice(page.length + 2)) ?? assert.fail();
      assert.deepEqual({ ...renewed, expiresAtMs: 0 }, { ...first, expiresAtMs: 0 });
      assert.equal(renewed.expiresAtMs, Math.min(Math.floor(now / 1_000) * 1_000 + LIFETIME_MS, end));
      if (renewed.expiresAtMs === last.expiresAtMs) break;
      last = renewed;
    }
    assert.equal(last.expiresAtMs, end);
    now = end;
    assert.equal(read(links.renew(last).slice(page.length + 2)), undefined);
    now = issuedAt;
  }
});

test('BI-04 a link outlives its sealing key by an hour', () => {
  const issuedAt = now;
  for (const minute of [0, 44, 45, 46, 59]) {
    now = Math.floor(issuedAt / 3_600_000) * 3_600_000 + minute * 60_000;
    const token = tokenOf('topup');
    now += LIFETIME_MS - 1_000;
    tokenOf('topup'); // Sealed under another key once the hour has ended.
    assert.notEqual(links.read('topup', token), undefined, String(minute));
  }
  now = issuedAt;
});

test('BI-04 a link works only on its page under its secret', () => {
  const strangers = createLinks({ ...options, keysOf: proofsOf({ secret: randomBytes(32) }) });
  for (const purpose of PURPOSES) {
    for (const page of PAGES) {
      assert.equal(links.read(page, tokenOf(purpose)) !== undefined, page === pageOf(purpose), `${purpose} ${page}`);
      assert.equal(links.read(page, tokenOf(purpose, strangers)), undefined);
    }
  }
});

test('BI-04 none of ten thousand made-up tokens is a link', () => {
  for (let count = 0; count < 10_000; count += 1) {
    const bytes = randomBytes(40 + (count % 200));
    if (count % 2 === 0) bytes.writeUInt32BE(Math.floor(now / 1_000) + (count % 900)); // A plausible expiry.
    const token = count % 3 === 0 ? randomBase62(44 + (count % 200)) : bytes.toString('base64url');
    for (const page of PAGES) assert.equal(links.read(page, token), undefined, token);
  }
  for (const token of ['', 'sandbox', 'A'.repeat(44), 'A'.repeat(100_000), '../topup', '%00', 'none', 'null']) {
    for (const page of PAGES) assert.equal(links.read(page, token), undefined, token.slice(0, 50));
  }
});

test('BI-04 the longest link that can exist is readable', () => {
  const longest = {
    appId: newAppId(),
    userId: '"'.repeat(256) as EndUserId,
    redirect: redirectName('x'),
    state: '\u8a9e'.repeat(512),
    userLabel: '\u8a9e'.repeat(80),
  };
  const { url } = links.connect(longest);
  assert.ok(url.length < 4_096, String(url.length));
  const read = links.read('connect', url.slice('https://purser.test/connect/'.length));
  assert.deepEqual(read && claimsOf(read), { ...longest, purpose: 'connect' });
  const renewed = links.renew(read ?? assert.fail()).slice('/connect/'.length);
  assert.deepEqual(claimsOf(links.read('connect', renewed) ?? assert.fail()), { ...longest, purpose: 'connect' });
});

test('SB-06 SB-09 the sandbox’s placeholder addresses contain no token', () => {
  assert.deepEqual(links.placeholders, {
    topup: 'https://purser.test/topup/sandbox',
    connect: 'https://purser.test/connect/sandbox',
  });
});
