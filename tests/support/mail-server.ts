// A mail server that accepts or refuses messages, as the test says. Real SMTP, on this machine only.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Whether the connection uses TLS, and then who signed in on it. */
  readonly isEncrypted: boolean;
  readonly user: string | undefined;
  /** The first of each name, in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
  /** The HTML of a mail that has both. It is undefined for a plain-text mail. */
  readonly html: string | undefined;
}

/** What the server does with a message: accept it, refuse it with a status, or hold it until the other side has left. */
type Fate = 'take' | 'hang' | { readonly refuse: number; readonly at: 'recipient' | 'data' };

export type MailServer = Awaited<ReturnType<typeof startMailServer>>;

interface MailServerOptions {
  readonly host?: string;
  /** The port. It is 0 or absent for a free one. */
  readonly port?: number;
  readonly certificate?: { readonly key: string; readonly cert: string };
  /** Who may send. If absent, anybody may, without signing in. */
  readonly account?: { readonly user: string; readonly password: string };
}

export async function startMailServer(options: MailServerOptions = {}) {
  const { host = '127.0.0.1', certificate, account } = options;
  const received: ReceivedMail[] = [];
  let fate: Fate = 'take';
  const server = new SMTPServer({
    logger: false,
    closeTimeout: 100,
    disableReverseLookup: true,
    ...certificate,
    ...(account === undefined ? { authOptional: true } : { allowInsecureAuth: true }),
    disabledCommands: [...(certificate === undefined ? ['STARTTLS'] : []), ...(account === undefined ? ['AUTH'] : [])],
    onAuth: ({ username, password }, _session, done) => {
      const isRight = username === account?.user && password === account?.password;
      done(isRight ? null : new Error('no such sender'), isRight ? { user: username } : undefined);
    },
    onRcptTo: ({ address }, _session, done) => done(at('recipient', fate, address)),
    onData: (stream, session, done) => {
      void receive(stream, session).then((mail) => {
        received.push(mail);
        if (fate !== 'hang') done(at('data', fate, mail.to.join()));
      });
    },
  });
  server.on('error', () => {}); // A connection that broke off, or its TLS.
  const listener = server.listen(options.port ?? 0, host);
  await once(listener, 'listening');
  const sender = account === undefined ? '' : `${account.user}:${encodeURIComponent(account.password)}@`;
  return {
    url: `smtp://${sender}${host}:${(listener.address() as AddressInfo).port}`,
    /** The mails in order of arrival, whether or not they were accepted. */
    received,
    /** Decides what the server does with messages from now on. Before that, it accepts them. */
    decide: (next: Fate) => void (fate = next),
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

/** Refuses with a message that repeats the address, as mail servers do. */
function at(place: 'recipient' | 'data', fate: Fate, address: string): Error | null {
  if (typeof fate === 'string' || fate.at !== place) return null;
  return Object.assign(new Error(`Not this one: <${address}>`), { responseCode: fate.refuse });
}

async function receive(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<ReceivedMail> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  const { headers, content } = partOf(Buffer.concat(chunks).toString('utf8'));
  const { envelope, secure, user } = session;
  return {
    from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
    to: envelope.rcptTo.map(({ address }) => address),
    isEncrypted: secure,
    user: user === undefined ? undefined : String(user),
    headers,
    ...wordsOf(headers, content),
  };
}

/** The text, and the HTML if the mail has both. */
function wordsOf(headers: ReadonlyMap<string, string>, content: string): Pick<ReceivedMail, 'text' | 'html'> {
  const boundary = /^multipart\/alternative;.* boundary="([^"]+)"/.exec(headers.get('content-type') ?? '')?.[1];
  if (boundary === undefined) return { text: readable(headers, content), html: undefined };
  const parts = content.split(`--${boundary}`).slice(1, -1);
  const ofType = (type: string): string | undefined => {
    const part = parts
      .map((one) => partOf(one.trimStart()))
      .find((one) => one.headers.get('content-type')?.startsWith(type));
    return part && readable(part.headers, part.content.replace(/\r\n$/, ''));
  };
  return { text: ofType('text/plain') ?? '', html: ofType('text/html') };
}

function partOf(whole: string): { readonly headers: ReadonlyMap<string, string>; readonly content: string } {
  const [head = '', ...rest] = whole.split('\r\n\r\n');
  const headers = new Map<string, string>();
  for (const line of head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')) {
    const [, name = '', value = ''] = /^([^:]*): ?(.*)$/.exec(line) ?? [];
    if (!headers.has(name.toLowerCase())) headers.set(name.toLowerCase(), value);
  }
  return { headers, content: rest.join('\r\n\r\n') };
}

function readable(headers: ReadonlyMap<string, string>, content: string): string {
  return decoded(content, headers.get('content-transfer-encoding')).replaceAll('\r\n', '\n');
}

function decoded(body: string, encoding: string | undefined): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8');
  if (encoding !== 'quoted-printable') return body;
  const bytes = body
    .replaceAll(/=\r?\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** The certificate is for 127.0.0.2, self-signed, and valid until 2126. Its key is public, so use it in tests only. */
export const TEST_CERTIFICATE = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgO5eIUUFAi+6NqGps
OQiS2ytxvI2e61WUmrT1sQkWrKihRANCAASbsuZa8VWm2YBPfZWbK8GxhcS7z5fA
HGrGLDZmvc0fkegxC40Gzfeu3ziMUbyisnUXZQjmCQ43l1PUgldpDqVI
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBrTCCAVSgAwIBAgIULJgDomrToCJfdJcBL+po5QV+VhwwCgYIKoZIzj0EAwIw
IzEhMB8GA1UEAwwYbWFpbCBzZXJ2ZXIgb2YgdGhlIHRlc3RzMCAXDTI2MTEyMTE4
NDEyMVoYDzIxMjYxMDI4MTg0MTIxWjAjMSEwHwYDVQQDDBhtYWlsIHNlcnZlciBv
ZiB0aGUgdGVzdHMwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASbsuZa8VWm2YBP
fZWbK8GxhcS7z5fAHGrGLDZmvc0fkegxC40Gzfeu3ziMUbyisnUXZQjmCQ43l1PU
gldpDqVIo2QwYjAdBgNVHQ4EFgQUx/lHg3QnKMfL+wUoh2BjB4jinr0wHwYDVR0j
BBgwFoAUx/lHg3QnKMfL+wUoh2BjB4jinr0wDwYDVR0TAQH/BAUwAwEB/zAPBgNV
HREECDAGhwR/AAACMAoGCCqGSM49BAMCA0cAMEQCIFd3ymg4FtDqrEKX77dGMsrq
zrkPapMBrIUDY/q8RXWNAiB8KxqXPZhq35xz5q1M2T8ylfDiARxuuw6DC7zwMDt4
cg==
-----END CERTIFICATE-----`,
};
