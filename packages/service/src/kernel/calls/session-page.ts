import { codingAgentOf, type CodingAgent } from '#kernel/calls/call-session.ts';
import type { AppId, EndUserId } from '#kernel/values/ids.ts';
import { type Micros, microsFromRow } from '#kernel/values/micros.ts';
import { type AskedPage, cutPage } from '#kernel/values/page.ts';

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
  /** Where it stands in lists: `before` begins after it. */
  readonly place: string;
}

export interface SessionPage {
  readonly sessions: readonly UsedSession[];
  /** The `before` of the next page. Undefined if there is none. */
  readonly next: string | undefined;
}

export interface SessionUser {
  readonly appId: AppId;
  readonly userId: EndUserId;
}

/** Reads sessions of a user, those that began last first. A `before` that is no place begins at the newest. */
export type ReadSessions = (user: SessionUser, page: AskedPage) => Promise<SessionPage>;

/** A session as the databases of real and of play money have it. */
export interface SessionRow {
  readonly session_id: bigint;
  readonly name: string;
  readonly client: string | null;
  readonly begun_at: Date;
  readonly begun_micros: bigint;
  readonly last_at: Date;
  readonly calls: bigint;
  readonly charged_micros: bigint;
}

/** When the session began, in microseconds, and its number. */
const PLACE = /^([1-9]\d{0,15})\.([1-9]\d{0,17})$/;

export interface SessionPlace {
  readonly begunMicros: bigint;
  readonly sessionId: bigint;
}

function parsePlace(text: string): SessionPlace | undefined {
  const [, begunMicros, sessionId] = PLACE.exec(text) ?? [];
  if (begunMicros === undefined || sessionId === undefined) return undefined;
  return { begunMicros: BigInt(begunMicros), sessionId: BigInt(sessionId) };
}

/** Makes the reader of what `select` finds: `most` sessions before a place. */
export function sessionReaderOf(
  select: (
    user: SessionUser,
    page: { readonly before: SessionPlace | undefined; readonly most: number },
  ) => Promise<readonly SessionRow[]>,
): ReadSessions {
  return async (user, { before, most }) => {
    const place = before === undefined ? undefined : parsePlace(before);
    const rows = await select(user, { before: place, most: most + 1 }); // One more than is shown tells whether there are more.
    return pageOf(rows.map(usedSession), most);
  };
}

/** One page of what several databases have of a user. A session during which the wallet moved is in each of them, with what it cost there. */
export function mergePages(pages: readonly SessionPage[], most: number): SessionPage {
  const sessions = pages.flatMap((page) => page.sessions).toSorted((one, other) => -comparePlaces(one, other));
  const page = pageOf(sessions, most);
  const hasMore = pages.some(({ next }) => next !== undefined);
  return hasMore ? { ...page, next: page.sessions.at(-1)?.place } : page;
}

function pageOf(sessions: readonly UsedSession[], most: number): SessionPage {
  const { rows, next } = cutPage(sessions, most, (last) => last.place);
  return { sessions: rows, next };
}

function comparePlaces(one: UsedSession, other: UsedSession): number {
  const [first, second] = [parsePlace(one.place), parsePlace(other.place)];
  const apart =
    (first?.begunMicros ?? 0n) - (second?.begunMicros ?? 0n) || (first?.sessionId ?? 0n) - (second?.sessionId ?? 0n);
  return apart === 0n ? 0 : apart < 0n ? -1 : 1;
}

function usedSession(row: SessionRow): UsedSession {
  return {
    name: row.name,
    client: codingAgentOf(row.client),
    begunAtMs: row.begun_at.getTime(),
    lastAtMs: row.last_at.getTime(),
    calls: Number(row.calls),
    charged: microsFromRow(row.charged_micros),
    place: `${row.begun_micros}.${row.session_id}`,
  };
}
