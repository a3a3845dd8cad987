import type { FastifyReply } from 'fastify';
import type { WhenEverywhere } from '#kernel/work/when-everywhere.ts';

const UNCONFIRMED = 'x-service-unconfirmed';

/**
 * Holds the answer back until every live process has the change that was just made in memory, so that the next request is refused
 * wherever it arrives. After a second it goes out all the same, and names the processes that have not confirmed (AU-09).
 */
export async function confirmEverywhere(whenEverywhere: WhenEverywhere, reply: FastifyReply): Promise<void> {
  const late = await whenEverywhere();
  if (late.length > 0) reply.header(UNCONFIRMED, late.join(', '));
}
