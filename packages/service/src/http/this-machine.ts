import type { IncomingMessage } from 'node:http';

const LOOPBACK = /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/;
/** The headers by which a proxy on this machine shows that it speaks for somebody else. */
const FORWARDING = ['forwarded', 'x-forwarded-for', 'x-real-ip'];

/** Whether a program on this machine made the request for itself, not as a proxy. */
export function isOfThisMachine(request: IncomingMessage): boolean {
  if (FORWARDING.some((name) => request.headers[name] !== undefined)) return false;
  return LOOPBACK.test(request.socket.remoteAddress ?? '');
}
