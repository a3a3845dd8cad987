import { BlockList, isIPv4 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { granted } from '#http/planes/planes.ts';
import { isOfThisMachine } from '#http/requests/this-machine.ts';
import { refuse } from '#kernel/faults/refusal.ts';

/** Browsers take every name below `localhost` for their own machine. */
const OWN_NAME = /^(([a-z0-9-]+\.)*localhost|127\.0\.0\.1|\[::1\])$/;

/** Lets a request through if a browser on this machine made it, under a name of this service. Throws the 404 of an unknown path if not. */
export type OwnMachineCheck = (request: FastifyRequest) => void;

/** The addresses that container engines give to the machine around a container, and IPv4 inside IPv6. */
const PRIVATE = new BlockList();
for (const [net, bits] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
] as const)
  PRIVATE.addSubnet(net, bits, 'ipv4');
PRIVATE.addSubnet('fc00::', 7, 'ipv6');
PRIVATE.addSubnet('fe80::', 10, 'ipv6');

/**
 * Makes the check of every page under `/dev`. The peer must be this machine, and the `Host` a name of this machine. Another site can
 * let its name lead to 127.0.0.1 (DNS rebinding) and would then read the mailbox with the developer's own browser. The name in
 * PURSER_PUBLIC_URL is no such name either: requests under it come through a proxy, from anywhere. `isInContainer`: a browser on
 * the machine around the container has a private address here, and the engine must publish the port on that machine's loopback only.
 */
export function createOwnMachineCheck(isInContainer: boolean): OwnMachineCheck {
  return ({ raw, headers }) => {
    const name = (headers.host ?? '').toLowerCase().replace(/:\d+$/, '');
    const isNear = isOfThisMachine(raw, isInContainer ? isPrivate : undefined);
    if (isNear && OWN_NAME.test(name)) return;
    granted(
      refuse(
        'NOT_FOUND',
        'Pages of development are for a browser on the machine of the service, at http://localhost, without a proxy.',
      ),
    );
  };
}

function isPrivate(address: string): boolean {
  return PRIVATE.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}
