// Where AWS credentials come from: STS, IAM Identity Center, and the metadata servers of instances and containers, as docs.aws.amazon.com
// documents them. The first two are reached by TLS through a proxy that ends it with a certificate of its own, as companies have them.
import { once } from 'node:events';
import { createServer as createPlain, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTls } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type AwsAccount, signatureFault } from './aws-signature.ts';
import { PROXY_CERTIFICATE } from './proxy-certificate.ts';
import type { VendorRequest } from './vendor.ts';

const ACCOUNT = '123456789012';
export const ROLE_ARN = `arn:aws:iam::${ACCOUNT}:role/purser-models`;
export const REGION = 'eu-central-1';
/** The credentials that assume the role. */
export const MASTER: AwsAccount = {
  accessKeyId: 'AKIAMASTER',
  secretAccessKey: 'master/secret',
  sessionToken: 'master+token',
  region: REGION,
};
export const WEB_TOKEN = 'eyJhbGciOiJSUzI1NiJ9.the-web-identity';
export const SSO_TOKEN = 'the-access-token-of-sso';
export const CONTAINER_TOKEN = 'the-token-of-the-container';
const INSTANCE_TOKEN = 'the-token-of-the-instance';
const METADATA = '/latest/meta-data/iam/security-credentials/';

interface Answer {
  readonly status?: number;
  readonly body: string | object;
}

type Issue = () => AwsAccount & { readonly ends: Date };

export async function startAwsAccounts() {
  const issued = new Map<string, AwsAccount & { readonly ends: Date }>();
  const asked: string[] = [];
  const state: { lifetimeSeconds: number; failure: Answer | undefined } = {
    lifetimeSeconds: 3_600,
    failure: undefined,
  };

  const issue: Issue = () => {
    const place = issued.size + 1;
    const ends = new Date(Date.now() + state.lifetimeSeconds * 1_000);
    const account = {
      accessKeyId: `ASIA${place}`,
      secretAccessKey: `secret+${place}`,
      sessionToken: `token/${place}=`,
    };
    issued.set(account.accessKeyId, { ...account, region: REGION, ends });
    return { ...account, region: REGION, ends };
  };

  const serve = (incoming: IncomingMessage, response: ServerResponse): void => {
    void buffer(incoming).then((rawBody) => {
      const { method = '', url = '', headers } = incoming;
      const request = { method, path: url, headers, rawBody, body: undefined };
      const [name, answer] = answerTo(request, issue);
      asked.push(name);
      const { status = 200, body } = state.failure ?? answer;
      response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  };
  const machine = createPlain(serve);
  const proxy = createProxy(createTls(PROXY_CERTIFICATE, serve));
  return {
    /** The origin of the metadata servers. */
    origin: await originOf(machine),
    proxy: await originOf(proxy.server),
    /** What was asked for, in order. */
    asked,
    /** The hosts that the proxy was asked for. */
    tunnels: proxy.tunnels,
    /** How long credentials from now on are valid. */
    setLifetime: (seconds: number) => void (state.lifetimeSeconds = seconds),
    failWith: (failure: Answer | undefined) => void (state.failure = failure),
    /** What Bedrock finds wrong with a request that must be signed with credentials that were given here and have not ended. */
    faultOf: (request: VendorRequest): string | undefined => {
      const [, id = ''] = /Credential=(\w+)\//.exec(String(request.headers['authorization'])) ?? [];
      const account = issued.get(id);
      if (account === undefined) return 'UnrecognizedClientException';
      return account.ends.getTime() < Date.now() ? 'ExpiredTokenException' : signatureFault(request, account);
    },
    close: () => {
      machine.closeAllConnections();
      machine.close();
      proxy.close();
    },
  };
}

async function originOf(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Every tunnel leads to the server inside, under the name of the host that was asked for. */
function createProxy(inside: ReturnType<typeof createTls>) {
  const tunnels: string[] = [];
  const open = new Set<Socket>();
  const server = createPlain((_request, response) => response.writeHead(403).end());
  server.on('connect', ({ url }, socket: Socket) => {
    tunnels.push(String(url));
    open.add(socket);
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    inside.emit('connection', socket);
  });
  const close = (): void => {
    for (const socket of open) socket.destroy();
    server.close();
  };
  return { server, tunnels, close };
}

function answerTo(request: VendorRequest, issue: Issue): readonly [name: string, answer: Answer] {
  const { method, path, headers, rawBody } = request;
  const form = new URLSearchParams(rawBody.toString('utf8'));
  switch (`${method} ${path}`) {
    case 'POST /': {
      const name = form.get('Action') ?? '';
      return [name, roleAnswer(name, form, request, issue)];
    }
    case `GET /federation/credentials?role_name=models&account_id=${ACCOUNT}`: {
      if (headers['x-amz-sso_bearer_token'] !== SSO_TOKEN) return ['sso', { status: 401, body: {} }];
      const { ends, ...account } = issue();
      return ['sso', { body: { roleCredentials: { ...account, expiration: ends.getTime() } } }];
    }
    case 'PUT /latest/api/token': {
      const isRight = headers['x-aws-ec2-metadata-token-ttl-seconds'] === '21600';
      return ['instance token', isRight ? { body: INSTANCE_TOKEN } : { status: 400, body: '' }];
    }
    case `GET ${METADATA}`:
      return ['instance role', isOfInstance(request) ? { body: 'purser-role' } : { status: 401, body: '' }];
    case `GET ${METADATA}purser-role`: {
      const refused = { status: 401, body: '' };
      return ['instance', isOfInstance(request) ? { body: { Code: 'Success', ...keysOf(issue()) } } : refused];
    }
    case 'GET /v1/credentials':
      if (headers['authorization'] !== CONTAINER_TOKEN) return ['container', { status: 401, body: {} }];
      return ['container', { body: keysOf(issue()) }];
    default:
      return [`${method} ${path}`, { status: 404, body: '' }];
  }
}

function isOfInstance({ headers }: VendorRequest): boolean {
  return headers['x-aws-ec2-metadata-token'] === INSTANCE_TOKEN;
}

function keysOf({ accessKeyId, secretAccessKey, sessionToken, ends }: ReturnType<Issue>) {
  const Expiration = ends.toISOString();
  return { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, Token: sessionToken, Expiration };
}

function roleAnswer(name: string, form: URLSearchParams, request: VendorRequest, issue: Issue): Answer {
  const isWeb = name === 'AssumeRoleWithWebIdentity';
  const fault = isWeb ? webFault(form) : signatureFault(request, MASTER, 'sts');
  if (fault !== undefined) return stsFailure(403, fault);
  const isRole = form.get('RoleArn') === ROLE_ARN && (form.get('RoleSessionName') ?? '') !== '';
  if (!isRole || form.get('Version') !== '2011-06-15') return stsFailure(400, 'ValidationError');
  const { accessKeyId, secretAccessKey, sessionToken, ends } = issue();
  const credentials = `<Credentials><AccessKeyId>${accessKeyId}</AccessKeyId><SecretAccessKey>${secretAccessKey}</SecretAccessKey>
    <SessionToken>${sessionToken}</SessionToken><Expiration>${ends.toISOString()}</Expiration></Credentials>`;
  const user = `<AssumedRoleUser><Arn>arn:aws:sts::${ACCOUNT}:assumed-role/purser-models/purser</Arn>
    <AssumedRoleId>AROA1:purser</AssumedRoleId></AssumedRoleUser>`;
  return {
    body: `<${name}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><${name}Result>${user}${credentials}</${name}Result>
      <ResponseMetadata><RequestId>c6104cbe</RequestId></ResponseMetadata></${name}Response>`,
  };
}

function webFault(form: URLSearchParams): string | undefined {
  return form.get('WebIdentityToken') === WEB_TOKEN ? undefined : 'InvalidIdentityToken';
}

/** What STS says when it refuses or fails. */
export function stsFailure(status: number, code: string): Answer & { readonly status: number } {
  const type = status < 500 ? 'Sender' : 'Receiver';
  const error = `<Error><Type>${type}</Type><Code>${code}</Code><Message>CANARY of STS</Message></Error>`;
  return {
    status,
    body: `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">${error}<RequestId>1</RequestId></ErrorResponse>`,
  };
}
