import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { createServer } from 'node:tls';
import { test } from 'node:test';
import { createPublicCertificate } from '#app/monitoring/public-certificate.ts';

/** The certificate was made with `openssl req -x509 -subj /CN=127.0.0.1 -days 36500`. It protects nothing. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBgDCCASWgAwIBAgIUUXx0wDqvtKwM2DxIPyTUl8lCm9cwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTEyMzE1MDYxM1oYDzIxMjYxMDMw
MTUwNjEzWjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAREKZF/Gu4Qkx3S+r6xfAZxCTNyLU4NpmPxq0ncM0xU4DiZn9Ih6+VW
Vrb/yuNzdOXaAVHVSj7yrncXhVqbN4JDo1MwUTAdBgNVHQ4EFgQUQrFP2T7imRZd
irrZXE3mSSm2Bu0wHwYDVR0jBBgwFoAUQrFP2T7imRZdirrZXE3mSSm2Bu0wDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEAtPNtfDYCxNzWEmOg0LWl
sTi3tIDnuWVu2LZhTFOjgIACIQC/KqiZISui8pd56eYEXBUQalum6QR6I6lrFVhu
N1zlQg==
-----END CERTIFICATE-----
`;
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg44K0nfOOVYzM/CrP
hMJkFCF1hGV9wLdVtNWlcoCyrD6hRANCAAREKZF/Gu4Qkx3S+r6xfAZxCTNyLU4N
pmPxq0ncM0xU4DiZn9Ih6+VWVrb/yuNzdOXaAVHVSj7yrncXhVqbN4JD
-----END PRIVATE KEY-----
`;

test('OP-05 the public certificate’s expiry is read over TLS and cached', async () => {
  const server = createServer({ cert: CERTIFICATE, key: KEY });
  let connections = 0;
  server.on('connection', () => (connections += 1));
  server.on('tlsClientError', () => {}); // It leaves when it has seen the certificate.
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  let nowMs = 0;
  const endsMs = createPublicCertificate(`https://127.0.0.1:${port}`, { nowMs: () => nowMs });
  const ends = Date.parse('Oct 30 15:06:13 2126 GMT');
  assert.deepEqual(await Promise.all([endsMs(), endsMs()]), [ends, ends]);
  nowMs = 3_599_999;
  assert.equal(await endsMs(), ends);
  assert.equal(connections, 1);
  server.close();
  nowMs = 3_600_000;
  assert.equal(await endsMs(), ends, 'the last one counts while it is looked for');
  while ((await endsMs()) !== undefined) await setImmediate();
});

test('OP-05 a public address without TLS has no certificate to read', async () => {
  assert.equal(await createPublicCertificate('http://127.0.0.1:1')(), undefined);
});
