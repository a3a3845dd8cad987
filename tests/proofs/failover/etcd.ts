import { z } from 'zod';
import type { Machine } from './network.ts';

const PORT = 2379;
const ASK_MS_MAX = 2_000;
const statusSchema = z.object({ header: z.object({ member_id: z.string() }), leader: z.string() });

/** The machine that leads etcd. */
export async function etcdLeaderOf(machines: readonly Machine[]): Promise<Machine> {
  for (const machine of machines) {
    const { header, leader } = await statusOf(machine);
    if (header.member_id === leader) return machine;
  }
  throw new Error('Nobody leads etcd.');
}

async function statusOf({ address }: Machine): Promise<z.output<typeof statusSchema>> {
  const answer = await fetch(`http://${address}:${PORT}/v3/maintenance/status`, {
    method: 'POST',
    body: '{}',
    signal: AbortSignal.timeout(ASK_MS_MAX),
  });
  return statusSchema.parse(await answer.json());
}
