import type { FastifyRequest } from 'fastify';
import { granted } from '#http/planes.ts';
import { isOfThisMachine } from '#http/this-machine.ts';
import { refuse } from '#kernel/refusal.ts';

const OWN_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/** Lets a request through if a browser on this machine made it, under a name of this service. Throws the 404 of an unknown path if not. */
export type OwnMachineCheck = (request: FastifyRequest) => void;

/**
 * The check of every page under `/dev`. The peer must be this machine, and the `Host` one of our own names: another site can let its
 * name lead to 127.0.0.1 (DNS rebinding) and would then read the mailbox with the developer's own browser.
 */
export function createOwnMachineCheck(publicUrl: string): OwnMachineCheck {
  const names = new Set([...OWN_NAMES, new URL(publicUrl).hostname]);
  return ({ raw, headers }) => {
    const name = (headers.host ?? '').toLowerCase().replace(/:\d+$/, '');
    if (isOfThisMachine(raw) && names.has(name)) return;
    granted(
      refuse('NOT_FOUND', 'Pages of development are for a browser on the machine of the service, at http://localhost.'),
    );
  };
}
