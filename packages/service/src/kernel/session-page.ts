import { codingAgentOf, type CodingAgent } from '#kernel/call-session.ts';
import type { AppId, EndUserId } from '#kernel/ids.ts';
import { type Micros, microsFromRow } from '#kernel/micros.ts';

/** What the calls of one session have cost (CP-19), in real or play money. */
export interface UsedSession {
  /** The name that its client gave it. */
  readonly name: string;
  readonly client: CodingAgent | undefined;
  /** When its first call ended, and its last one. */
  readonly begunAtMs: number;
  readonly lastAtMs: number;
  readonly calls: number;
  readonly charged: Micros;
}

interface SessionPage {
  readonly sessions: readonly UsedSession[];
  /** The `before` of the next page. Undefined if there is none. */
  readonly next: string | undefined;
}

/** Reads sessions of a user, those that began last first. A `before` that is no place begins at the newest. */
export type ReadSessions = (
  user: { readonly appId: AppId; readonly userId: EndUserId },
  page: { readonly before: string | undefined; readonly most: number },
) => Promise<SessionPage>;

/** A session as the databases of real and of play money have it. */
export interface SessionRow {
  readonly session_id: bigint;
  readonly name: string;
  readonly client: string | null;
  readonly begun_at: Date;
  readonly last_at: Date;
  readonly calls: bigint;
  readonly charged_micros: bigint;
}

const NEWEST = 2n ** 63n - 1n;
const PLACE = /^[1-9]\d{0,17}$/;

/** Makes the reader of what `select` finds: `most` sessions before a place. */
export function sessionReaderOf(
  select: (
    user: Parameters<ReadSessions>[0],
    page: { readonly before: bigint; readonly most: number },
  ) => Promise<readonly SessionRow[]>,
): ReadSessions {
  return async (user, { before, most }) => {
    const place = before !== undefined && PLACE.test(before) ? BigInt(before) : NEWEST;
    const rows = await select(user, { before: place, most: most + 1 }); // One more than is shown tells whether there are more.
    const shown = rows.slice(0, most);
    return {
      sessions: shown.map(usedSession),
      next: rows.length > most ? shown.at(-1)?.session_id.toString() : undefined,
    };
  };
}

function usedSession(row: SessionRow): UsedSession {
  return {
    name: row.name,
    client: codingAgentOf(row.client),
    begunAtMs: row.begun_at.getTime(),
    lastAtMs: row.last_at.getTime(),
    calls: Number(row.calls),
    charged: microsFromRow(row.charged_micros),
  };
}
