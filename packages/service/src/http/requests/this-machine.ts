import type { IncomingMessage } from 'node:http';

const LOOPBACK = /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/;
/** How an IPv6 socket shows an IPv4 address. */
const MAPPED = /^::ffff:(?=\d+\.)/;
/** Headers by which a proxy or a tunnel on this machine shows that it speaks for others. */
const FORWARDING =
  /^(via|forwarded|x-forwarded(-.*)?|x-original-.*|x-real-ip|true-client-ip|([a-z-]+-)?client-ip|cf-.*)$/;

/**
 * Whether a program on this machine made the request for itself, not as a proxy. HTTP/1.0 is what nginx speaks unless it is
 * told otherwise, without any such header, and what no browser speaks. `isNear` names further addresses that count as this machine.
 */
export function isOfThisMachine(request: IncomingMessage, isNear: (address: string) => boolean = () => false): boolean {
  if (request.httpVersion === '1.0' || Object.keys(request.headers).some((name) => FORWARDING.test(name))) return false;
  const address = request.socket.remoteAddress ?? '';
  return LOOPBACK.test(address) || isNear(address.replace(MAPPED, ''));
}
