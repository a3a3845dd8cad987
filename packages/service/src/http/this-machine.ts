import type { IncomingMessage } from 'node:http';

const LOOPBACK = /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/;
/** A proxy on this machine speaks for others, and says so by these. */
const FORWARDING = ['forwarded', 'x-forwarded-for', 'x-real-ip'];

/** True for a request that a program on this machine made for itself. */
export function isOfThisMachine(request: IncomingMessage): boolean {
  if (FORWARDING.some((name) => request.headers[name] !== undefined)) return false;
  return LOOPBACK.test(request.socket.remoteAddress ?? '');
}
