import { createTransport } from 'nodemailer';

/** The mail server that takes what goes out (`SMTP_URL`, `PURSER_MAIL_FROM`). */
export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte (`smtps:`). Otherwise by STARTTLS, which only a server on this machine may lack. */
  readonly isTlsFirst: boolean;
  readonly credentials: { readonly user: string; readonly password: string } | undefined;
  readonly from: { readonly name: string; readonly address: string };
}

interface OutgoingMessage {
  /** The same at every try. */
  readonly key: string;
  readonly recipient: string;
  readonly subject: string;
  readonly body: string;
  readonly html: string | undefined;
}

/** What came of a try. `code` says why, in a word that names nobody. */
type HandOver =
  | { readonly result: 'taken' }
  /** The server will not have this recipient, now or later. */
  | { readonly result: 'refused'; readonly code: string }
  | { readonly result: 'failed'; readonly code: string };

/** Hands one message to the mail server. Never rejects. */
export type SendMail = (message: OutgoingMessage) => Promise<HandOver>;

/** For each thing that is waited for: all of them together stay below the two minutes until somebody else may try. */
const SILENCE_MS_MAX = 10_000;
const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost']);

/** A connection for each message: mail is rare here. */
export function createSmtpSender(settings: SmtpSettings): SendMail {
  const { host, port, isTlsFirst, credentials, from } = settings;
  const isNear = LOOPBACK.has(host);
  const transport = createTransport({
    host,
    port,
    secure: isTlsFirst,
    requireTLS: !isTlsFirst && !isNear,
    ignoreTLS: !isTlsFirst && isNear, // A relay on this machine rarely has a certificate that anybody could check.
    ...(credentials === undefined ? {} : { auth: { user: credentials.user, pass: credentials.password } }),
    connectionTimeout: SILENCE_MS_MAX,
    greetingTimeout: SILENCE_MS_MAX,
    socketTimeout: SILENCE_MS_MAX,
    dnsTimeout: SILENCE_MS_MAX,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  return async ({ key, recipient, subject, body, html }) => {
    try {
      await transport.sendMail({
        from: { ...from },
        to: { name: '', address: recipient },
        subject,
        text: body,
        ...(html === undefined ? {} : { html }),
        messageId: `<${key}@${domain}>`,
        headers: { 'auto-submitted': 'auto-generated' }, // No answers from the absent (RFC 3834).
      });
      return { result: 'taken' };
    } catch (fault) {
      return handOverOf(fault);
    }
  };
}

/** The server's own words are left out: they repeat addresses. */
function handOverOf(fault: unknown): HandOver {
  const { code, command, responseCode } = fault as {
    readonly code?: unknown;
    readonly command?: unknown;
    readonly responseCode?: unknown;
  };
  const status = typeof responseCode === 'number' ? ` ${responseCode}` : '';
  const reason = `${typeof code === 'string' ? code : 'unknown'}${status}`;
  const isForGood = command === 'RCPT TO' && typeof responseCode === 'number' && responseCode >= 500;
  return { result: isForGood ? 'refused' : 'failed', code: reason };
}
