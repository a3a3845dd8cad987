import { databaseAddressOf, databaseInWords } from '#db/servers/hosts.ts';

/** OpenSSL's words for a certificate that Node does not accept. */
const CERTIFICATE =
  /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+|CERT_\w+|ERR_TLS_CERT_ALTNAME_INVALID)$/;
const TLS_MISSING = /server does not support SSL connections/;
const PASSWORD_MISSING = /client password must be a string/;

/**
 * Says why a server that answered lets nobody in, and what to do about it: a sentence each, without the password. Undefined for
 * every other fault. Nobody but the operator can change any of these.
 */
export function refusalInWords(fault: unknown, url: string): string | undefined {
  if (!(fault instanceof Error)) return undefined;
  const code = 'code' in fault && typeof fault.code === 'string' ? fault.code : '';
  const where = databaseInWords(url);
  if (code === '28P01' || PASSWORD_MISSING.test(fault.message)) {
    return `${where} refuses the user or the password. Correct them in DATABASE_URL.`;
  }
  if (code === '28000') {
    return `${where} does not let this user in: no line of its pg_hba.conf allows it from this machine, or the user may not sign in. Add one, or name another user in DATABASE_URL.`;
  }
  if (code === '3D000') {
    const { database } = databaseAddressOf(url);
    return `${where} does not exist, although the server answers. Create it with \`create database ${database}\`, or correct DATABASE_URL.`;
  }
  if (code === '42501') {
    return `${where} does not let this user connect. Run \`grant connect on database\` for it, or name another user in DATABASE_URL.`;
  }
  if (CERTIFICATE.test(code)) {
    return `${where} shows a certificate that is not accepted (${code}). Name its authority with \`sslrootcert\` in DATABASE_URL, or give the server a certificate for this host.`;
  }
  if (TLS_MISSING.test(fault.message)) {
    return `${where} speaks no TLS, which \`sslmode\` in DATABASE_URL asks for. Turn \`ssl\` on at the server, or leave \`sslmode\` out if nobody can listen in between.`;
  }
  return undefined;
}
