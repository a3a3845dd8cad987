import type { IncomingMessage } from 'node:http';

const LOOPBACK = /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/;
/** Headers by which a proxy or a tunnel on this machine shows that it speaks for others. */
const FORWARDING =
  /^(via|forwarded|x-forwarded(-.*)?|x-original-.*|x-real-ip|true-client-ip|([a-z-]+-)?client-ip|cf-.*)$/;

/**
 * Whether a program on this machine made the request for itself, not as a proxy. HTTP/1.0 is what nginx speaks unless it is
 * told otherwise, without any such header, and what no browser speaks.
 */
export function isOfThisMachine(request: IncomingMessage): boolean {
  if (request.httpVersion === '1.0' || Object.keys(request.headers).some((name) => FORWARDING.test(name))) return false;
  return LOOPBACK.test(request.socket.remoteAddress ?? '');
}
