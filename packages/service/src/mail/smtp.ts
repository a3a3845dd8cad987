import type { Transporter } from 'nodemailer';

/** The mail server for outgoing mail (`SMTP_URL`, `PURSER_MAIL_FROM`). */
export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  /**
   * Tells whether TLS is used from the first byte (`smtps:`). Otherwise STARTTLS is required, unless the server is on
   * this machine.
   */
  readonly isTlsFirst: boolean;
  readonly credentials: { readonly user: string; readonly password: string } | undefined;
  readonly from: { readonly name: string; readonly address: string };
}

/** One message to one recipient. */
interface OutgoingMessage {
  /** The same at every attempt, so that receivers can recognise a repeated message by its id. */
  readonly key: string;
  readonly recipient: string;
  readonly subject: string;
  readonly body: string;
  readonly html: string | undefined;
}

/** The outcome of an attempt. `code` says why it failed, in a word that names no person. */
type HandOver =
  | { readonly result: 'taken' }
  /** The server refused this recipient for good. */
  | { readonly result: 'refused'; readonly code: string }
  | { readonly result: 'failed'; readonly code: string };

/** Hands one message to the mail server. Never rejects. */
export type SendMail = (message: OutgoingMessage) => Promise<HandOver>;

/** The limit for each single wait. All of them together stay below the two minutes after which another process may try. */
const SILENCE_MS_MAX = 10_000;
const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost']);

/** Opens a connection for each message: mail is so rare here that a pool would mostly hold idle ones. */
export function createSmtpSender(settings: SmtpSettings): SendMail {
  const { from } = settings;
  let transport: Promise<Transporter> | undefined;
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  return async ({ key, recipient, subject, body, html }) => {
    try {
      transport ??= openTransport(settings).catch((fault: unknown) => {
        transport = undefined; // The next message tries again.
        throw fault;
      });
      await (await transport).sendMail({
        from: { ...from },
        to: { name: '', address: recipient },
        subject,
        text: body,
        ...(html === undefined ? {} : { html }),
        messageId: `<${key}@${domain}>`,
        headers: { 'auto-submitted': 'auto-generated' }, // Asks vacation responders not to answer (RFC 3834).
      });
      return { result: 'taken' };
    } catch (fault) {
      return handOverOf(fault);
    }
  };
}

/**
 * Connects, switches to TLS and signs in as for a message, and sends none. Returns why that failed, in a word that names no person;
 * undefined if it did not.
 */
export async function tryMailServer(settings: SmtpSettings): Promise<string | undefined> {
  try {
    const transport = await openTransport(settings);
    try {
      await transport.verify();
      return undefined;
    } finally {
      transport.close();
    }
  } catch (fault) {
    const outcome = handOverOf(fault);
    return outcome.result === 'taken' ? undefined : outcome.code;
  }
}

/** Loads the library with the first message, because processes that send no mail would keep it in memory. */
async function openTransport({ host, port, isTlsFirst, credentials }: SmtpSettings): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  const isNear = LOOPBACK.has(host);
  return createTransport({
    host,
    port,
    secure: isTlsFirst,
    requireTLS: !isTlsFirst && !isNear,
    ignoreTLS: !isTlsFirst && isNear, // A relay on this machine rarely has a certificate that could be verified.
    ...(credentials === undefined ? {} : { auth: { user: credentials.user, pass: credentials.password } }),
    connectionTimeout: SILENCE_MS_MAX,
    greetingTimeout: SILENCE_MS_MAX,
    socketTimeout: SILENCE_MS_MAX,
    dnsTimeout: SILENCE_MS_MAX,
    // nodemailer can attach files and URLs that a message names. We never do, and nobody's text shall make it.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** Reduces a fault to an outcome. The server's own words are left out of the log, because they repeat addresses. */
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
