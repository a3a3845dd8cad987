import type { Proxy } from './proxies.ts';

/** What a proxy may say before a tunnel is open. */
const HEAD_BYTES_MAX = 16 * 1024;
const HEAD_END = '\r\n\r\n';

/** The request for a tunnel through a proxy. */
export function tunnelRequest(proxy: Proxy, to: { readonly host: string; readonly port: number }): string {
  const host = to.host.includes(':') ? `[${to.host}]` : to.host;
  const authority = `${host}:${to.port}`;
  const authorization = proxy.authorization === undefined ? '' : `proxy-authorization: ${proxy.authorization}\r\n`;
  return `CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${authorization}\r\n`;
}

/** The proxy's answer, from bytes that are cut anywhere. */
export class TunnelAnswer {
  #head = '';

  /**
   * Returns true once the tunnel is open, and false while more must come. Throws if the proxy refuses, in words without
   * any of its own.
   */
  feed(bytes: Buffer): boolean {
    this.#head += bytes.toString('latin1');
    const end = this.#head.indexOf(HEAD_END);
    if (end === -1) {
      if (this.#head.length > HEAD_BYTES_MAX) throw new Error('The proxy did not send an HTTP response.');
      return false;
    }
    const [, status] = /^HTTP\/1\.[01] (\d{3})[ \r]/.exec(this.#head) ?? [];
    if (status === undefined) throw new Error('The proxy did not send an HTTP response.');
    if (!status.startsWith('2')) throw new Error(`The proxy opened no connection to the upstream (${status}).`);
    // Nothing was sent yet that the upstream could answer.
    if (this.#head.length > end + HEAD_END.length)
      throw new Error('The proxy sent bytes before the upstream was asked.');
    return true;
  }
}
