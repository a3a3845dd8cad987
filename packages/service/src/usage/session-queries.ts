import type { Queryable } from '#db/pool.ts';
import type { AppId, EndUserId } from '#kernel/ids.ts';
import type { SessionRow } from '#kernel/session-page.ts';

const COLUMNS = 'session_id, name, client, begun_at, last_at, calls, charged_micros';

/** Lists sessions of a user before one, those that began last first. */
export async function selectSessions(
  db: Queryable,
  { appId, userId }: { readonly appId: AppId; readonly userId: EndUserId },
  { before, most }: { readonly before: bigint; readonly most: number },
): Promise<readonly SessionRow[]> {
  const values = [appId, userId, before, most];
  const { rows } = await db.query<SessionRow>(`select ${COLUMNS} from usage.sessions_of($1, $2, $3, $4)`, values);
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
