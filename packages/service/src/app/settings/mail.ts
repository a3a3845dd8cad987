import type { SettingsReader } from '#app/environment/settings-reader.ts';
import type { SmtpSettings } from '#mail/smtp.ts';

const SMTP_PORT = 587;
const SMTPS_PORT = 465;
const ADDRESS = /^[^\s<>,;:"()[\]\\@]+@[^\s<>,;:"()[\]\\@]+$/;
const NAMED_ADDRESS = /^([^<>"\r\n]*)<([^<>]*)>$/;

/** Reads the mail server's settings. Undefined when there are none. Complaints never quote SMTP_URL: it contains a password. */
export function readMail(settings: SettingsReader): SmtpSettings | undefined {
  const url = settings.text('SMTP_URL');
  if (url === undefined) return undefined;
  const server = serverOf(url);
  if (server === undefined) {
    settings.complain('SMTP_URL must look like smtp://user:password@host:587 or smtps://user:password@host:465.');
  }
  const from = addressOf(settings.text('PURSER_MAIL_FROM') ?? '');
  if (from === undefined) {
    settings.complain(
      'PURSER_MAIL_FROM must be an address, such as `Purser <purser@example.org>`. Set it together with SMTP_URL.',
    );
  }
  return server === undefined || from === undefined ? undefined : { ...server, from };
}

/** Reads `smtp:` or `smtps:` URLs. A path or a query is refused, because nothing would come of it. */
function serverOf(text: string): Omit<SmtpSettings, 'from'> | undefined {
  const url = URL.parse(text);
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '') return undefined;
  if (!/^\/?$/.test(url.pathname) || url.search !== '' || url.hash !== '') return undefined;
  const user = decoded(url.username);
  const password = decoded(url.password);
  if (user === undefined || password === undefined) return undefined;
  const isTlsFirst = url.protocol === 'smtps:';
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (isTlsFirst ? SMTPS_PORT : SMTP_PORT) : Number(url.port),
    isTlsFirst,
    credentials: user === '' ? undefined : { user, password },
  };
}

/**
 * Decodes a user name or a password, which are percent-encoded in URLs. Returns undefined when the encoding is broken.
 */
function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** Reads `Name <address>` or a bare address. Line breaks are refused: they would add headers to every mail. */
function addressOf(text: string): SmtpSettings['from'] | undefined {
  const [, name = '', address = text.trim()] = NAMED_ADDRESS.exec(text.trim()) ?? [];
  return ADDRESS.test(address.trim()) ? { name: name.trim(), address: address.trim() } : undefined;
}
