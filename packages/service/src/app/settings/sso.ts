import { OPERATOR_ROLES, type OperatorRole } from '@purser/contract/operator-access.ts';
import type { SsoSettings } from '#developers/sso/settings.ts';
import type { SettingsReader } from '#app/environment/settings-reader.ts';

const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);
const REQUIRED = /^(acr|amr)=(.+)$/;
const NAME_LENGTH_MAX = 40;

/** Reads the OpenID Connect provider's settings. Undefined when there are none. Complaints never quote the client's secret. */
export function readSso(settings: SettingsReader): SsoSettings | undefined {
  const issuer = settings.text('PURSER_OIDC_ISSUER');
  const clientId = settings.text('PURSER_OIDC_CLIENT_ID');
  const clientSecret = settings.text('PURSER_OIDC_CLIENT_SECRET');
  const isOnly = settings.text('PURSER_OIDC_ONLY') === '1';
  if (issuer === undefined && clientId === undefined && clientSecret === undefined) {
    if (isOnly) settings.complain('PURSER_OIDC_ONLY needs a provider: set PURSER_OIDC_ISSUER.');
    return undefined;
  }
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) {
    settings.complain(
      'PURSER_OIDC_ISSUER, PURSER_OIDC_CLIENT_ID and PURSER_OIDC_CLIENT_SECRET belong together. Set all three.',
    );
    return undefined;
  }
  if (!isIssuer(issuer)) {
    settings.complain(
      'PURSER_OIDC_ISSUER must be an https URL without a query or fragment, as the provider writes its issuer. Only a provider on this machine may use http.',
    );
  }
  return {
    issuer,
    clientId,
    clientSecret,
    isOnly,
    scopes: readScopes(settings),
    roleClaim: settings.text('PURSER_OIDC_ROLE_CLAIM') ?? 'groups',
    roles: readRoles(settings),
    required: readRequired(settings),
    name: readName(settings),
  };
}

function isIssuer(issuer: string): boolean {
  const url = URL.parse(issuer);
  if (url === null || url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.has(url.hostname));
}

function readScopes(settings: SettingsReader): string {
  const scopes = settings.text('PURSER_OIDC_SCOPES') ?? 'openid email profile';
  if (!scopes.split(' ').includes('openid')) {
    settings.complain('PURSER_OIDC_SCOPES must be scopes separated by spaces, and `openid` one of them.');
  }
  return scopes;
}

/**
 * Reads the roles as JSON, because names of groups may hold any character: those of a directory are full of commas and
 * equals signs.
 */
function readRoles(settings: SettingsReader): SsoSettings['roles'] {
  const pairs = pairsOf(settings.text('PURSER_OIDC_ROLES') ?? '');
  if (pairs !== undefined) return new Map(pairs);
  settings.complain(
    `PURSER_OIDC_ROLES must be a JSON object from a value of the role claim to a role (${OPERATOR_ROLES.join(', ')}), such as {"purser-admins":"admin"}.`,
  );
  return new Map();
}

function pairsOf(text: string): readonly (readonly [string, OperatorRole])[] | undefined {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return undefined;
  const pairs = Object.entries(given).flatMap(([value, asked]) => {
    const role = OPERATOR_ROLES.find((one) => one === asked);
    return role === undefined ? [] : [[value, role] as const];
  });
  return pairs.length === 0 || pairs.length < Object.keys(given).length ? undefined : pairs;
}

function readRequired(settings: SettingsReader): SsoSettings['required'] {
  const text = settings.text('PURSER_OIDC_REQUIRE');
  if (text === undefined) return undefined;
  const [, claim, values = ''] = REQUIRED.exec(text) ?? [];
  if (claim === 'acr' || claim === 'amr') return { claim, values: values.split(',') };
  settings.complain('PURSER_OIDC_REQUIRE must be `amr=` or `acr=` and the values that will do, such as amr=mfa,hwk.');
  return undefined;
}

function readName(settings: SettingsReader): string {
  const name = settings.text('PURSER_OIDC_NAME') ?? 'single sign-on';
  if (name.length > NAME_LENGTH_MAX)
    settings.complain(`PURSER_OIDC_NAME must have at most ${NAME_LENGTH_MAX} characters.`);
  return name;
}
