import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

export const CLIENT = { id: 'purser', secret: 'a secret of the client, for tests' };

/** A person at the provider: the claims about them, and how they sign in. */
interface PersonThere {
  readonly email?: string;
  readonly email_verified?: unknown;
  readonly name?: string;
  readonly groups?: unknown;
}

/** A real OpenID Connect provider on loopback, whose people sign in without typing anything. */
export interface OidcProvider {
  readonly issuer: string;
  /** Sets what it says about a person. */
  readonly put: (subject: string, person: PersonThere) => void;
  /** Who signs in next, and by what means. Undefined: nobody, they cancel. */
  readonly become: (subject: string | undefined, amr?: readonly string[]) => void;
  /** Changes the ID tokens that it issues, which it signs again with its own key or, if asked, with another one. */
  readonly tamper: (change: ((claims: Record<string, unknown>) => object) | undefined, isForged?: boolean) => void;
  /** Follows the provider's pages from `location` until it sends the browser back. Returns the path and the query. */
  readonly visit: (location: string, browser?: Map<string, string>) => Promise<string>;
  readonly close: () => Promise<void>;
}

const STEPS_MAX = 10;

export async function startOidcProvider(redirectUri: string): Promise<OidcProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const people = new Map<string, PersonThere>();
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const otherKeys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  let next: { readonly subject: string; readonly amr: readonly string[] } | undefined;
  let tampering: { change: (claims: Record<string, unknown>) => object; isForged: boolean } | undefined;

  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [redirectUri],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    jwks: { keys: [{ ...keys.privateKey.export({ format: 'jwk' }), kid: 'own', use: 'sig', alg: 'ES256' }] },
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
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    pkce: { required: () => true },
    findAccount: (_context: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, ...people.get(accountId) }),
    }),
    loadExistingGrant: async ({
      oidc,
    }: {
      oidc: { provider: Provider; client: { clientId: string }; session: { accountId: string } };
    }) => {
      const { client, session } = oidc;
      const grant = new oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  provider.use(async (context, goOn) => {
    if (context.path.startsWith('/interaction/')) {
      const result =
        next === undefined
          ? { error: 'access_denied', error_description: 'they cancelled' }
          : { login: { accountId: next.subject, amr: next.amr } };
      const options = { mergeWithLastSubmission: false };
      const to = await provider.interactionResult(context.req, context.res, result, options);
      context.status = 303;
      context.res.setHeader('location', to);
      context.body = '';
      return;
    }
    await goOn();
    const { body } = context;
    if (context.path !== '/token' || tampering === undefined || typeof body !== 'object' || body === null) return;
    if (!('id_token' in body) || typeof body.id_token !== 'string') return;
    const key = (tampering.isForged ? otherKeys : keys).privateKey;
    const [header = '', payload = ''] = body.id_token.split('.');
    const claims = tampering.change(JSON.parse(Buffer.from(payload, 'base64url').toString()));
    const signed = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
    const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
    context.body = { ...body, id_token: `${signed}.${signature.toString('base64url')}` };
  });
  server.on('request', provider.callback());

  return {
    issuer,
    put: (subject, person) => void people.set(subject, person),
    become: (subject, amr = ['pwd']) => {
      next = subject === undefined ? undefined : { subject, amr };
    },
    tamper: (change, isForged = false) => {
      tampering = change && { change, isForged };
    },
    visit: async (location, browser = new Map()) => {
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
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
