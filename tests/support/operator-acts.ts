import type { Pool } from '../../packages/service/src/db/pool/pool.ts';
import { type Reply, send } from './client.ts';
import { waitUntil } from './wait-until.ts';
import type { Code } from './refusal.ts';
import type { TestApp, TestService } from './service.ts';

/** What operators and owners do to apps and keys, done as the service does it: the change and its generation in one step. */

export async function setApp(service: TestService, { appId }: TestApp, assignment: string): Promise<void> {
  await service.database.owner.query(
    `with bumped as (
       update db.generations set generation = generation + 1 where topic = 'accounts' returning generation
     )
     update accounts.apps set ${assignment}, generation = bumped.generation from bumped where app_id = $1`,
    [appId],
  );
}

export async function revokeKey(service: TestService, { appId }: TestApp, mode: 'live' | 'sandbox'): Promise<void> {
  const ofApp = { set: 'revoked_at = clock_timestamp()', where: 'app_id = $1 and mode = $2' };
  await changeKeys(service.database.owner, ofApp, [appId, mode]);
}

/** Changes keys with the next generation: a gateway that has already read the keys reads them again. */
export async function changeKeys(
  owner: Pool,
  { set, where }: { readonly set: string; readonly where: string },
  values: readonly unknown[],
): Promise<void> {
  await owner.query(
    `with bumped as (
       update db.generations set generation = generation + 1 where topic = 'accounts' returning generation
     )
     update accounts.api_keys set ${set}, generation = bumped.generation from bumped where ${where}`,
    [...values],
  );
}

/** Calls a gateway with a key until it refuses with this code. From then on the change is in force. */
export function untilRefused(url: string, key: string, code: Code): Promise<Reply> {
  return waitUntil(`${code} is in force`, async () => {
    const reply = await send('/v1/models', { url, key });
    return reply.error['code'] === code && reply;
  });
}
