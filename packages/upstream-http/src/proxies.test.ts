import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proxiesOf } from './proxies.ts';

function foundBy(environment: Readonly<Record<string, string>>, url: string): string | undefined {
  const proxy = proxiesOf(environment)(new URL(url));
  return proxy && `${proxy.isTls ? 'tls ' : ''}${proxy.host}:${proxy.port}`;
}

test('CC-13 a URL’s scheme picks its proxy, and lower-case variables win', () => {
  const environment = { HTTPS_PROXY: 'http://one.test:3128', http_proxy: 'two.test', HTTP_PROXY: 'http://three.test' };
  assert.equal(foundBy(environment, 'https://api.test/v1'), 'one.test:3128');
  assert.equal(foundBy(environment, 'http://api.test/v1'), 'two.test:80');
  assert.equal(foundBy({ https_proxy: '', HTTPS_PROXY: 'https://[::2]' }, 'https://api.test'), 'tls ::2:443');
  assert.equal(foundBy({ HTTPS_PROXY: 'http://one.test' }, 'http://api.test'), undefined);
  assert.equal(foundBy({}, 'https://api.test'), undefined);
});

test('CC-13 NO_PROXY hosts, their subdomains and this machine are reached directly', () => {
  const cases = [
    ['api.test', 'https://api.test/', true],
    ['API.test', 'https://api.TEST/', true],
    ['test', 'https://api.test/', true],
    ['.api.test, *.b.test', 'https://x.api.test/', true],
    ['a.test *.b.test', 'https://x.b.test/', true],
    ['pi.test', 'https://api.test/', false],
    ['api.test:443', 'https://api.test/', true],
    ['api.test:8443', 'https://api.test/', false],
    ['api.test:8443', 'https://api.test:8443/', true],
    ['10.0.0.1', 'https://10.0.0.1/', true],
    ['[fd00::1]:443', 'https://[fd00::1]/', true],
    ['fd00::1', 'https://[fd00::1]/', true],
    ['*', 'https://api.test/', true],
    ['', 'https://api.test/', false],
    ['', 'https://localhost/', true],
    ['', 'https://127.0.0.7:9/', true],
    ['', 'https://[::1]/', true],
    ['', 'https://169.254.169.254/', true],
    ['', 'https://169.254.170.2/', true],
    ['', 'https://[fe80::1]/', true],
    ['', 'https://[fd00:ec2::254]/', true],
    ['', 'https://metadata.google.internal./', true],
    ['', 'https://169.254.169.254.test/', false],
    ['', 'https://[fd00:ec3::254]/', false],
  ] as const;
  for (const [NO_PROXY, url, isDirect] of cases) {
    const found = foundBy({ HTTPS_PROXY: 'http://one.test', NO_PROXY }, url);
    assert.equal(found === undefined, isDirect, `${NO_PROXY} ${url}`);
  }
});

test('ER-03 no message repeats a proxy’s credentials', () => {
  const find = proxiesOf({ HTTPS_PROXY: 'http://me%40here:p%3Ass@one.test' });
  const expected = `Basic ${Buffer.from('me@here:p:ss').toString('base64')}`;
  assert.equal(find(new URL('https://api.test'))?.authorization, expected);
  for (const address of ['socks5://me:SECRET@one.test', 'http://me:SECRET@', 'http://me:SECRET%zz@one.test']) {
    assert.throws(
      () => proxiesOf({ HTTP_PROXY: address }),
      (fault) => fault instanceof Error && fault.message.startsWith('HTTP_PROXY ') && !fault.message.includes('SECRET'),
    );
  }
});
