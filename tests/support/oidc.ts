import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Context, Provider } from 'oidc-provider';

export const CLIENT = { id: 'purser', secret: 'a secret of the client, for tests' };

/** What the provider says about a person. */
interface PersonThere {
  readonly email?: string;
  readonly email_verified?: unknown;
  readonly name?: string;
  readonly groups?: unknown;
}

type Change = (claims: Record<string, unknown>) => object;

const STEPS_MAX = 10;

/** A real OpenID Connect provider on loopback, whose people sign in without typing anything. */
export async function startOidcProvider(redirectUri: string) {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const people = new Map<string, PersonThere>();
  const { privateKey: own } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { privateKey: forged } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  let next: string | undefined;
  let tampering: { readonly change: Change; readonly key: KeyObject } | undefined;

  const provider = new Provider(issuer, configurationOf(redirectUri, own, people));
  provider.use(async (context, goOn) => {
    if (context.path.startsWith('/interaction/')) return answerFor(provider, context, next);
    await goOn();
    if (context.path === '/token' && tampering !== undefined) changeToken(context, tampering);
    return undefined;
  });
  server.on('request', provider.callback());

  return {
    issuer,
    put: (subject: string, person: PersonThere) => void people.set(subject, person),
    /** Who signs in next. Undefined: nobody, they cancel. */
    become: (subject: string | undefined) => {
      next = subject;
    },
    /** Changes the ID tokens that it issues. It signs them again, with its own key or a forged one. */
    tamper: (change: Change | undefined, isForged = false) => {
      tampering = change && { change, key: isForged ? forged : own };
    },
    /** Follows the provider's pages from `location` until it sends the browser back. Returns the path and the query. */
    visit: (location: string, browser: Map<string, string> = new Map()) =>
      visit(issuer, redirectUri, location, browser),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function configurationOf(redirectUri: string, key: KeyObject, people: ReadonlyMap<string, PersonThere>): object {
  return {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [redirectUri],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    jwks: { keys: [{ ...key.export({ format: 'jwk' }), kid: 'own', use: 'sig', alg: 'ES256' }] },
    cookies: { keys: ['of the tests'] },
    claims: {
      acr: null,
      amr: null,
      auth_time: null,
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name', 'groups'],
    },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context: Context, { uid }: { uid: string }) => `/interaction/${uid}` },
    pkce: { required: () => true },
    findAccount: (_context: Context, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, ...people.get(accountId) }),
    }),
    // Nobody is asked whether they agree: the client is the company's own.
    loadExistingGrant: async ({ oidc: { provider, client, session } }: Context) => {
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  };
}

/** The page that would ask for a password: it signs `subject` in, or cancels. */
async function answerFor(provider: Provider, context: Context, subject: string | undefined): Promise<void> {
  const cancelled = { error: 'access_denied', error_description: 'they cancelled' };
  const result = subject === undefined ? cancelled : { login: { accountId: subject, amr: ['pwd'] } };
  const options = { mergeWithLastSubmission: false };
  const to = await provider.interactionResult(context.req, context.res, result, options);
  context.status = 303;
  context.res.setHeader('location', to);
  context.body = '';
}

function changeToken(context: Context, { change, key }: { readonly change: Change; readonly key: KeyObject }): void {
  const { body } = context;
  if (typeof body !== 'object' || body === null || !('id_token' in body) || typeof body.id_token !== 'string') return;
  const [header = '', payload = ''] = body.id_token.split('.');
  const claims = change(JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>);
  const signed = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
  context.body = { ...body, id_token: `${signed}.${signature.toString('base64url')}` };
}

async function visit(
  issuer: string,
  redirectUri: string,
  location: string,
  browser: Map<string, string>,
): Promise<string> {
  let to = location;
  for (let steps = 0; !to.startsWith(redirectUri); steps += 1) {
    if (steps === STEPS_MAX) throw new Error(`the provider leads nowhere: ${to}`);
    const cookie = [...browser].map(([name, value]) => `${name}=${value}`).join('; ');
    const reply = await fetch(new URL(to, issuer), { redirect: 'manual', headers: { cookie } });
    for (const line of reply.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') browser.delete(name);
      else browser.set(name, value);
    }
    const given = reply.headers.get('location');
    if (given === null) throw new Error(`${to} answered ${reply.status}: ${await reply.text()}`);
    to = given;
  }
  return to.slice(new URL(redirectUri).origin.length);
}
