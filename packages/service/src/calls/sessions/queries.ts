import type { Queryable } from '#db/pool/pool.ts';
import type { SessionPlace, SessionRow, SessionUser } from '#kernel/calls/session-page.ts';

const COLUMNS = `session_id, name, client, begun_at, (extract(epoch from begun_at) * 1000000)::bigint as begun_micros, last_at, calls,
  charged_micros`;

/** Lists sessions of a user before one, those that began last first. */
export async function selectSessions(
  db: Queryable,
  { appId, userId }: SessionUser,
  { before, most }: { readonly before: SessionPlace | undefined; readonly most: number },
): Promise<readonly SessionRow[]> {
  const values = [appId, userId, before?.begunMicros ?? null, before?.sessionId ?? null, most];
  const { rows } = await db.query<SessionRow>(`select ${COLUMNS} from usage.sessions_of($1, $2, $3, $4, $5)`, values);
  return rows;
}

/** Looks at the next sessions and removes those that are too old, see `expire_sessions.sql`. Undefined at the end. */
export async function expireSessions(
  db: Queryable,
  { after, most, keptMs }: { readonly after: bigint; readonly most: number; readonly keptMs: number },
): Promise<bigint | undefined> {
  const { rows } = await db.query<{ last: bigint | null }>('select usage.expire_sessions($1, $2, $3) as last', [
    after,
    most,
    keptMs,
  ]);
  return rows[0]?.last ?? undefined;
}
