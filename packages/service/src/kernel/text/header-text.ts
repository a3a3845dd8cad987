import type { IncomingHttpHeaders } from 'node:http';

/** Text that a header can carry as it is: visible ASCII characters, without spaces. */
export const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

const BEARER = /^bearer +(\S+)$/i;

/** The token of an `authorization: Bearer ...` header, or undefined when there is none. */
export function bearerTokenOf(authorization: string | undefined): string | undefined {
  return BEARER.exec(authorization ?? '')?.[1];
}

/** A header that has one value; undefined if it was not sent. */
export function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}
