// The token endpoints of Google: for a service account's JWT (RFC 7523), for workload identities (RFC 8693), and impersonation.
// It checks signatures and claims by node:crypto, and shares nothing with the adapter or its library.
import { createPublicKey, generateKeyPairSync, randomBytes, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from './wire.ts';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const JWT_TYPE = 'urn:ietf:params:oauth:token-type:jwt';
const AUDIENCE = '//iam.googleapis.com/projects/123456/locations/global/workloadIdentityPools/pool/providers/cluster';
const EMAIL = 'purser@shop-1.iam.gserviceaccount.com';
const KEY_ID = 'a1b2c3';
const IMPERSONATION = `/v1/projects/-/serviceAccounts/${EMAIL}:generateAccessToken`;
const SUBJECT_ADDRESS = '/metadata/token';
const MACHINE_ADDRESS = `/computeMetadata/v1/instance/service-accounts/default/token?scopes=${encodeURIComponent(SCOPE)}`;
/** What a workload has in its token file. */
export const SUBJECT_TOKEN = 'eyJhbGciOiJSUzI1NiJ9.subject-token-of-the-workload';

const SUBJECT_HEADERS = { 'metadata-flavor': 'Google' };

export type TokenServer = Awaited<ReturnType<typeof startTokenServer>>;

type Refusal = ReturnType<typeof refusal>;

function refusal(description: string, error = 'invalid_grant') {
  return { error, error_description: description };
}

export async function startTokenServer() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const tokens = new Map<string, number>();
  const requests: string[] = [];
  const agents = new Set<unknown>();
  const state: Issuer = {
    publicKey,
    requests,
    lifetimeSeconds: 3_600,
    issue: () => {
      const token = `ya29.${randomBytes(24).toString('base64url')}`;
      tokens.set(token, Date.now() + state.lifetimeSeconds * 1_000);
      return token;
    },
    takesToken: (token) => (tokens.get(token) ?? 0) > Date.now(),
  };
  let failure: number | 'reset' | undefined;
  const server = createServer((request, response) => {
    if (request.method === 'POST') agents.add(request.headers['user-agent']);
    void readBody(request).then((text) => {
      if (failure !== undefined) requests.push('failed');
      if (failure === 'reset') return void request.socket.resetAndDestroy();
      const isOfMachine = request.headers['metadata-flavor'] === 'Google';
      if (request.method === 'GET' && request.url === SUBJECT_ADDRESS && isOfMachine)
        return void response.end(SUBJECT_TOKEN);
      if (isOfMachine) response.setHeader('metadata-flavor', 'Google');
      const [status, body] =
        failure === undefined ? answer(request, text, state) : [failure, refusal('CANARY', 'down')];
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    /** Its host and port, as `GCE_METADATA_HOST` names a metadata server. */
    host: new URL(origin).host,
    /** The JSON that an operator downloads for a service account. */
    serviceAccount: serviceAccountAt(origin, privateKey),
    /** The JSON of a workload identity whose token is in this file. */
    workloadIdentity: (tokenFile: string, isImpersonated = false) => workloadAt(origin, tokenFile, isImpersonated),
    /** The JSON of a workload identity whose token is had from an address of its machine. */
    workloadIdentityAtAddress: () => ({
      ...workloadAt(origin, '', false),
      credential_source: { url: `${origin}${SUBJECT_ADDRESS}`, headers: SUBJECT_HEADERS },
    }),
    /** What was wanted of it, in order: `service-account`, `workload`, `impersonation` or `machine`; `failed`, if it was told to fail. */
    requests,
    /** The programs that sent them, by their own word. */
    agents,
    /** Whether a token was issued here and has not expired. */
    takesToken: state.takesToken,
    /** How long the tokens from now on are valid. 3600 unless set. */
    setLifetime: (seconds: number) => void (state.lifetimeSeconds = seconds),
    /** Every token so far stops being valid. */
    expireAll: () => tokens.clear(),
    /** Answers this status to everything from now on, or breaks the connection off; undefined: works again. */
    failWith: (next: number | 'reset' | undefined) => void (failure = next),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function serviceAccountAt(origin: string, privateKey: string): Json {
  return {
    type: 'service_account',
    project_id: 'shop-1',
    private_key_id: KEY_ID,
    private_key: privateKey,
    client_email: EMAIL,
    client_id: '1',
    token_uri: `${origin}/token`,
    universe_domain: 'googleapis.com',
  };
}

function workloadAt(origin: string, tokenFile: string, isImpersonated: boolean): Json {
  const impersonation = { service_account_impersonation_url: `${origin}${IMPERSONATION}` };
  return {
    type: 'external_account',
    audience: AUDIENCE,
    subject_token_type: JWT_TYPE,
    token_url: `${origin}/sts/v1/token`,
    credential_source: { file: tokenFile },
    ...(isImpersonated && impersonation),
  };
}

interface Issuer {
  readonly publicKey: string;
  readonly requests: string[];
  lifetimeSeconds: number;
  readonly issue: () => string;
  readonly takesToken: (token: string) => boolean;
}

function answer(request: IncomingMessage, text: string, issuer: Issuer): readonly [status: number, body: unknown] {
  const { requests, lifetimeSeconds, issue, takesToken, publicKey } = issuer;
  switch (request.url ?? '') {
    case '/token': {
      requests.push('service-account');
      const audience = `http://${request.headers.host}/token`;
      const fault = faultOfAssertion(new URLSearchParams(text), publicKey, audience);
      if (fault !== undefined) return [400, fault];
      return [200, { access_token: issue(), expires_in: lifetimeSeconds, token_type: 'Bearer' }];
    }
    case '/sts/v1/token': {
      requests.push('workload');
      const fault = faultOfExchange(new URLSearchParams(text));
      if (fault !== undefined) return [400, fault];
      const issued = { issued_token_type: ACCESS_TOKEN, token_type: 'Bearer', expires_in: lifetimeSeconds };
      return [200, { access_token: issue(), ...issued }];
    }
    case MACHINE_ADDRESS: {
      requests.push('machine');
      if (request.headers['metadata-flavor'] !== 'Google') return [403, refusal('The flavor is missing.')];
      return [200, { access_token: issue(), expires_in: lifetimeSeconds, token_type: 'Bearer' }];
    }
    case IMPERSONATION: {
      requests.push('impersonation');
      const [, bearer = ''] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '') ?? [];
      if (!takesToken(bearer)) return [401, { error: { code: 401, status: 'UNAUTHENTICATED', message: 'No.' } }];
      const { scope } = JSON.parse(text) as { scope?: unknown };
      if (!Array.isArray(scope) || !scope.includes(SCOPE)) return [400, refusal('The scope is wrong.')];
      const expireTime = new Date(Date.now() + lifetimeSeconds * 1_000).toISOString();
      return [200, { accessToken: issue(), expireTime }];
    }
    default:
      return [404, refusal('There is no such endpoint.')];
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** What is wrong with a service account's assertion: its signature, or one of its claims. */
function faultOfAssertion(form: URLSearchParams, publicKey: string, audience: string): Refusal | undefined {
  if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') {
    return refusal('The grant type is wrong.', 'unsupported_grant_type');
  }
  const [head = '', payload = '', signature = ''] = (form.get('assertion') ?? '').split('.');
  const signed = Buffer.from(`${head}.${payload}`);
  const key = createPublicKey(publicKey);
  if (!verify('RSA-SHA256', signed, key, Buffer.from(signature, 'base64url'))) return refusal('Invalid JWT Signature.');
  const { alg, kid } = decode(head);
  if (alg !== 'RS256' || (kid !== undefined && kid !== KEY_ID)) return refusal('Invalid JWT header.');
  const { iss, aud, scope, iat, exp } = decode(payload);
  const now = Date.now() / 1_000;
  if (iss !== EMAIL) return refusal('Invalid issuer.');
  if (aud !== audience) return refusal('Invalid JWT: the audience is not this endpoint.');
  if (!scopesOf(scope).includes(SCOPE)) return refusal('Invalid OAuth scope.', 'invalid_scope');
  const isTimely = typeof iat === 'number' && typeof exp === 'number' && iat <= now + 1 && exp > now;
  if (!isTimely || exp - iat > 3_600) return refusal('Invalid JWT: Token must be a short-lived token.');
  return undefined;
}

function scopesOf(scope: unknown): readonly unknown[] {
  return typeof scope === 'string' ? scope.split(' ') : Array.isArray(scope) ? scope : [];
}

function decode(part: string): Json {
  return JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Json;
}

/** What is wrong with the exchange of a workload's own token. */
function faultOfExchange(form: URLSearchParams): Refusal | undefined {
  const wanted = {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    audience: AUDIENCE,
    scope: SCOPE,
    requested_token_type: ACCESS_TOKEN,
    subject_token_type: JWT_TYPE,
    subject_token: SUBJECT_TOKEN,
  };
  const [wrong] = Object.entries(wanted).find(([name, value]) => form.get(name) !== value) ?? [];
  return wrong === undefined ? undefined : refusal(`Invalid value for \`${wrong}\`.`, 'invalid_request');
}
