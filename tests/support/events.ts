import type { Pool } from '../../packages/service/src/db/pool/pool.ts';
import { randomBytes } from 'node:crypto';
import { sql } from './sql.ts';

/** Inserts a webhook event that was dropped after one attempt, and returns its id. */
export async function newEvent(db: Pick<Pool, 'query'>, appId: string, userId = 'anna'): Promise<string> {
  const id = `evt_${randomBytes(16).toString('hex')}`;
  const body = JSON.stringify({ id, type: 'balance.low', appId, data: { userId, balanceMicros: 7 } });
  await sql(db)`insert into webhooks.events (event_id, app_id, subscription_id, type, body, created_at, state, ended_at)
    values (${id}, ${appId}, 0, 'balance.low', convert_to(${body}, 'UTF8'), now(), 'dropped', now())`;
  await sql(db)`insert into webhooks.attempts (event_id, attempt, at, status, duration_ms)
    values (${id}, 1, now(), 503, 12)`;
  return id;
}
