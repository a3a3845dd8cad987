import { appParamsSchema } from '@purser/contract/control.ts';
import {
  findCallsSchema,
  foundCallsSchema,
  latestCallsQuerySchema,
  latestCallsSchema,
  receiptParamsSchema,
  receiptSchema,
  usageDay,
  usageQuerySchema,
  usageReportSchema,
} from '@purser/contract/usage.ts';
import type { z } from 'zod';
import { type ControlPlane, ownApp } from '#http/planes/control-plane.ts';
import { csvField } from '#http/serializers/csv.ts';
import { findCalls } from '#http/planes/find-calls.ts';
import { shownTrace } from '#http/serializers/call-to-wire.ts';
import { ownerRoutes } from '#http/planes/owner-routes.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { sentMs } from '#http/requests/sent.ts';
import { type Clock, isoOf } from '#kernel/time/clock.ts';
import { type AppId, parseCallId } from '#kernel/values/ids.ts';
import { isJsonObject, parseJson } from '#kernel/text/json.ts';
import { microsToWire } from '#kernel/values/micros.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { nameOf, type UsageFigures } from '#calls/usage/report.ts';

/** The columns of every table, in this order. A column that the report is not grouped by is empty. */
const CSV_COLUMNS = [
  'day',
  'model',
  'userId',
  'requests',
  'promptTokens',
  'completionTokens',
  'chargedMicros',
] as const;
const DAY_MS = 86_400_000;

const UNKNOWN_CALL = 'No call of this app has this id, the call is still running, or its month is archived.';

/** Routes for usage by day, model and user, and for receipts of single calls (CP-04). */
export function addUsageRoutes(plane: Plane, control: ControlPlane): void {
  const { appUsage, clock } = control;

  plane.get(
    '/apps/:appId/usage',
    { schema: { params: appParamsSchema, querystring: usageQuerySchema, response: { 200: usageReportSchema } } },
    async (request, reply) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      const { query } = request;
      const asked = granted(queryOf(appId, query, clock));
      const rows = granted(await appUsage.page(asked));
      const last = rows.length === query.limit ? rows.at(-1) : undefined;
      const next = last === undefined ? null : cursorOf(last);
      if (query.format === 'json') return { rows: rows.map(figuresToWire), next };
      if (next !== null) reply.header('link', linkTo(request.url, next));
      const lines = [CSV_COLUMNS.join(','), ...rows.map(figuresToCsv)];
      // The route's schema is for JSON. `serializer(String)` bypasses it for the CSV text.
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', `attachment; filename="usage-${asked.from}-${asked.to}.csv"`)
        .header('x-content-type-options', 'nosniff')
        .serializer(String)
        .send(`${lines.join('\r\n')}\r\n` as never);
    },
  );

  const routes = ownerRoutes(plane, control);
  routes.ofApp(
    'GET /apps/:appId/calls/:callId',
    { params: receiptParamsSchema, answer: receiptSchema },
    async ({ appId }, { params }) => {
      const callId = parseCallId(params.callId);
      const receipt = callId === undefined ? undefined : await appUsage.receipt(appId, callId);
      return receipt ?? refuse('NOT_FOUND', UNKNOWN_CALL);
    },
  );

  routes.ofApp(
    'GET /apps/:appId/calls',
    { params: appParamsSchema, query: findCallsSchema, answer: foundCallsSchema },
    async ({ appId }, { query }) => {
      const { receipts, traces } = await findCalls(control, appId, query);
      return { calls: receipts, traces: traces.map(shownTrace) };
    },
  );

  routes.ofApp(
    'GET /apps/:appId/latest-calls',
    { params: appParamsSchema, query: latestCallsQuerySchema, answer: latestCallsSchema },
    async ({ appId }, { query: { after, limit, from, to, mode, userId, session, model, outcome, code } }) => {
      const [fromMs, toMs] = [sentMs(from), sentMs(to)];
      if (fromMs !== undefined && toMs !== undefined && fromMs >= toMs) {
        return refuse('BAD_REQUEST', '`from` must be before `to`.', { param: 'from' });
      }
      const asked = { appId, mode, userId, session, model, outcome, code, fromMs, toMs };
      const { traces, next } = await control.traces.recent(asked, after, limit);
      return { traces: traces.map(shownTrace), next };
    },
  );
}

/** The query with its defaults: the current UTC month, today included. */
function queryOf(appId: AppId, query: z.output<typeof usageQuerySchema>, clock: Clock) {
  const today = isoOf(clock.nowMs()).slice(0, 10);
  const groups = {
    byDay: query.groupBy.includes('day'),
    byModel: query.groupBy.includes('model'),
    byUser: query.groupBy.includes('user'),
  };
  const after = query.after === undefined ? nameOf({}) : afterOf(query.after, groups);
  if (after === undefined) return badCursor();
  return {
    appId,
    from: query.from ?? `${today.slice(0, 7)}-01`,
    to: query.to ?? isoOf(clock.nowMs() + DAY_MS).slice(0, 10),
    ...groups,
    after,
    most: query.limit,
  };
}

/** The page's last row, encoded. Rows that arrive later cannot shift the next page, as they would shift an offset. */
function cursorOf(row: UsageFigures): string {
  return Buffer.from(JSON.stringify(nameOf(row))).toString('base64url');
}

/** Decodes a cursor. It must name exactly the fields that the report is grouped by; a cursor of another report does not. */
function afterOf(cursor: string, groups: Readonly<Record<'byDay' | 'byModel' | 'byUser', boolean>>) {
  const name = parseJson(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (!isJsonObject(name)) return undefined;
  const { day, model, userId } = name;
  if (typeof day !== 'string' || typeof model !== 'string' || typeof userId !== 'string') return undefined;
  const isOfGroups =
    (day !== '') === groups.byDay && (model !== '') === groups.byModel && (userId !== '') === groups.byUser;
  const isName = (day === '' || usageDay.safeParse(day).success) && !`${model}${userId}`.includes('\u0000');
  return isOfGroups && isName ? { day, model, userId } : undefined;
}

/** The `link` header of the next page (RFC 8288), because a CSV file has no room for a cursor. */
function linkTo(address: string, next: string): string {
  const [path = '', query] = address.split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.set('after', next);
  return `<${path}?${parameters.toString()}>; rel="next"`;
}

function badCursor(): Refusal<'BAD_REQUEST'> {
  return refuse('BAD_REQUEST', '`after` must be the `next` of an earlier page of the same report.', { param: 'after' });
}

/** A row of a report. Names that it is not grouped by are left out rather than null. */
function figuresToWire({ day, model, userId, charged, ...figures }: UsageFigures) {
  return {
    ...(day === undefined ? {} : { day }),
    ...(model === undefined ? {} : { model }),
    ...(userId === undefined ? {} : { userId }),
    ...figures,
    chargedMicros: microsToWire(charged),
  };
}

function figuresToCsv(figures: UsageFigures): string {
  const row: Partial<Record<(typeof CSV_COLUMNS)[number], string | number>> = figuresToWire(figures);
  return CSV_COLUMNS.map((column) => csvField(row[column] ?? '')).join(',');
}
