import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '#app/settings/config.ts';

const PROVIDER = {
  PURSER_SECRET: 's'.repeat(32),
  PURSER_OIDC_ISSUER: 'https://id.example.com/realm',
  PURSER_OIDC_CLIENT_ID: 'purser',
  PURSER_OIDC_CLIENT_SECRET: 'a secret of the client',
  PURSER_OIDC_ROLES: '{"cn=money,dc=example":"finance","purser-admins":"admin"}',
};

test('CP-13 provider settings are read; none means no SSO', () => {
  assert.equal(readConfig({ PURSER_SECRET: PROVIDER.PURSER_SECRET }).sso, undefined);
  const { sso } = readConfig({ ...PROVIDER, PURSER_OIDC_REQUIRE: 'amr=mfa,hwk', PURSER_OIDC_ONLY: '1' });
  assert.deepEqual(sso, {
    issuer: 'https://id.example.com/realm',
    clientId: 'purser',
    clientSecret: 'a secret of the client',
    isOnly: true,
    scopes: 'openid email profile',
    roleClaim: 'groups',
    roles: new Map([
      ['cn=money,dc=example', 'finance'],
      ['purser-admins', 'admin'],
    ]),
    required: { claim: 'amr', values: ['mfa', 'hwk'] },
    name: 'single sign-on',
  });
  const local = 'http://127.0.0.1:9000';
  assert.equal(readConfig({ ...PROVIDER, PURSER_OIDC_ISSUER: local }).sso?.issuer, local);
});

for (const [setting, value] of [
  ['PURSER_OIDC_ISSUER', 'http://id.example.com'],
  ['PURSER_OIDC_ISSUER', 'https://id.example.com/?a=b'],
  ['PURSER_OIDC_ISSUER', 'https://me:word@id.example.com'],
  ['PURSER_OIDC_ISSUER', 'http://127.0.0.1.example.com'],
  ['PURSER_OIDC_CLIENT_SECRET', ''],
  ['PURSER_OIDC_ROLES', ''],
  ['PURSER_OIDC_ROLES', '{}'],
  ['PURSER_OIDC_ROLES', '["admin"]'],
  ['PURSER_OIDC_ROLES', '{"a":"admin","b":"root"}'],
  ['PURSER_OIDC_ROLES', 'a=admin'],
  ['PURSER_OIDC_SCOPES', 'email profile'],
  ['PURSER_OIDC_REQUIRE', 'mfa'],
  ['PURSER_OIDC_NAME', 'n'.repeat(41)],
] as const) {
  test(`CP-13 ${setting} ${value === '' ? 'left out' : value.slice(0, 40)} is refused by name`, () => {
    assert.throws(
      () => readConfig({ ...PROVIDER, [setting]: value }),
      ({ message }: Error) => message.includes(setting) && !message.includes(PROVIDER.PURSER_OIDC_CLIENT_SECRET),
    );
  });
}

test('CP-13 closing operator passwords without a provider is refused', () => {
  const environment = { PURSER_SECRET: PROVIDER.PURSER_SECRET, PURSER_OIDC_ONLY: '1' };
  assert.throws(() => readConfig(environment), /PURSER_OIDC_ONLY needs a provider/);
});
