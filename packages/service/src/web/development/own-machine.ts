import type { FastifyRequest } from 'fastify';
import { granted } from '#http/planes.ts';
import { isOfThisMachine } from '#http/this-machine.ts';
import { refuse } from '#kernel/refusal.ts';

/** Browsers take every name below `localhost` for their own machine. */
const OWN_NAME = /^(([a-z0-9-]+\.)*localhost|127\.0\.0\.1|\[::1\])$/;

/** Lets a request through if a browser on this machine made it, under a name of this service. Throws the 404 of an unknown path if not. */
export type OwnMachineCheck = (request: FastifyRequest) => void;

/**
 * The check of every page under `/dev`. The peer must be this machine, and the `Host` a name of this machine. Another site can
 * let its name lead to 127.0.0.1 (DNS rebinding) and would then read the mailbox with the developer's own browser. The name in
 * PURSER_PUBLIC_URL is no such name either: requests under it come through a proxy, from anywhere.
 */
export const assertOwnMachine: OwnMachineCheck = ({ raw, headers }) => {
  const name = (headers.host ?? '').toLowerCase().replace(/:\d+$/, '');
  if (isOfThisMachine(raw) && OWN_NAME.test(name)) return;
  granted(
    refuse(
      'NOT_FOUND',
      'Pages of development are for a browser on the machine of the service, at http://localhost, without a proxy.',
    ),
  );
};
