import { z } from 'zod';
import type { EveryCell } from '#http/cells/questions/every-cell.ts';
import type { CellQuestion } from '#http/cells/questions/question.ts';
import {
  appIdSchema,
  countSchema,
  listOf,
  maybe,
  microsSchema,
  textSchema,
  userIdSchema,
} from '#http/cells/questions/schemas.ts';
import { codingAgentOf } from '#kernel/calls/call-session.ts';
import { mergePages, type ReadSessions, type SessionPage, type SessionUser } from '#kernel/calls/session-page.ts';
import type { AskedPage } from '#kernel/values/page.ts';

/** A person waits for a page. */
const WAIT_MS = 5_000;
const PAGE_MAX = 1_000;
const BYTES_MAX = 1_024;

type Asked = SessionUser & AskedPage;

/** `POST /cells/sessions` asks for a page of what sessions of coding agents have cost a user in that cell. */
const SESSIONS: CellQuestion<Asked, SessionPage> = {
  path: '/cells/sessions',
  bytesMax: BYTES_MAX,
  waitMs: WAIT_MS,
  asked: z.object({
    appId: appIdSchema,
    userId: userIdSchema,
    before: maybe(textSchema),
    most: z.int().min(1).max(PAGE_MAX),
  }),
  answer: z.object({
    sessions: listOf(
      z.object({
        name: textSchema,
        client: z.codec(z.string().nullable(), z.custom<ReturnType<typeof codingAgentOf>>(), {
          decode: codingAgentOf,
          encode: (client) => client ?? null,
        }),
        begunAtMs: countSchema,
        lastAtMs: countSchema,
        calls: countSchema,
        charged: microsSchema,
        place: textSchema,
      }),
    ),
    next: maybe(textSchema),
  }),
};

/** The sessions of users of any cell, for members of an app. */
export function sessionsEverywhere(local: ReadSessions, { reader }: EveryCell): ReadSessions {
  const pages = reader(SESSIONS, ({ appId, userId, ...of }) => local({ appId, userId }, of));
  return async ({ appId, userId }, of) => mergePages(await pages({ appId, userId, ...of }), of.most);
}
