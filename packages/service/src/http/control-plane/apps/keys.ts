import {
  changeKeySchema,
  keyListSchema,
  keyParamsSchema,
  keySchema,
  mintedKeySchema,
  newKeySchema,
  rolledKeySchema,
  rollKeySchema,
} from '@purser/contract/keys.ts';
import { appParamsSchema } from '@purser/contract/control.ts';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { ApiKey, KeyChange } from '#developers/keys/api-key.ts';
import { type ControlPlane, ownApp, ownerOf } from '#http/planes/control-plane.ts';
import { confirmEverywhere } from '#http/planes/confirm-everywhere.ts';
import type { BudgetUse } from '#http/planes/key-budgets.ts';
import { ownerRoutes } from '#http/planes/owner-routes.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { epochMsOf } from '#kernel/time/clock.ts';
import { micros } from '#kernel/values/micros.ts';
import { refuse } from '#kernel/faults/refusal.ts';

const noSuchKey = () => refuse('NOT_FOUND', 'This app has no such key.');

/** Routes for an app's API keys (CP-03, CP-08). A key is shown only in the answer that makes it; the database has its digest. */
export function addKeyRoutes(plane: Plane, control: ControlPlane): void {
  const routes = ownerRoutes(plane, control);
  const { apps, readBudgets } = control;

  routes.add(
    'POST /apps/:appId/keys',
    { params: appParamsSchema, body: newKeySchema, answer: mintedKeySchema, status: 201 },
    async ({ request, params: { appId }, body }) => {
      const { mode, userId, joinSeconds } = body;
      await ownApp(control, request, appId, mode);
      const options = { mode, boundUser: userId, joinSeconds, ...keyChangeOf(body) };
      const { key, apiKey } = granted(await apps.mintKey(ownerOf(control, request), appId, options));
      return { appId, apiKey, ...shownMinted(key) };
    },
  );

  routes.ofApp('GET /apps/:appId/keys', { params: appParamsSchema, answer: keyListSchema }, async ({ appId }) => {
    const keys = await apps.listKeys(appId);
    const budgets = await readBudgets(keys);
    return { keys: keys.map((key) => shownKey(key, budgets)) };
  });

  routes.ofApp(
    'GET /apps/:appId/keys/:keyId',
    { params: keyParamsSchema, answer: keySchema },
    async ({ appId }, { params }) => {
      const key = granted((await apps.findKey(appId, params.keyId)) ?? noSuchKey());
      return shownKey(key, await readBudgets([key]));
    },
  );

  addKeyActs(plane, control);
}

interface AskedOfKey {
  readonly request: FastifyRequest;
  readonly params: z.infer<typeof keyParamsSchema>;
}

/** Acts on a key that is there. */
function addKeyActs(plane: Plane, control: ControlPlane): void {
  const routes = ownerRoutes(plane, control);
  const { apps, readBudgets, whenEverywhere } = control;

  /** The key of a request. Which role an act needs depends on its mode. */
  async function ownKey({ request, params: { appId, keyId } }: AskedOfKey) {
    await ownApp(control, request, appId, (await apps.findKey(appId, keyId))?.mode);
    return { appId, keyId };
  }

  routes.add(
    'PATCH /apps/:appId/keys/:keyId',
    { params: keyParamsSchema, body: changeKeySchema, answer: keySchema },
    async (asked) => {
      const own = await ownKey(asked);
      const changed = await apps.changeKey(ownerOf(control, asked.request), own, keyChangeOf(asked.body));
      const key = granted(changed ?? noSuchKey());
      const budgets = await readBudgets([key]);
      await confirmEverywhere(whenEverywhere, asked.reply);
      return shownKey(key, budgets);
    },
  );

  routes.add(
    'POST /apps/:appId/keys/:keyId/roll',
    { params: keyParamsSchema, body: rollKeySchema, answer: rolledKeySchema, status: 201 },
    async (asked) => {
      const key = await ownKey(asked);
      const { overlapSeconds } = asked.body;
      const { expiresAtMs } = keyChangeOf(asked.body);
      const rolled = await apps.rollKey(ownerOf(control, asked.request), key, { overlapSeconds, expiresAtMs });
      const { key: successor, apiKey, endsAtMs } = granted(rolled ?? noSuchKey());
      await confirmEverywhere(whenEverywhere, asked.reply);
      const ends = { rolledFrom: key.keyId, oldKeyEndsAtMs: endsAtMs };
      return { appId: key.appId, apiKey, ...shownMinted(successor), ...ends };
    },
  );

  routes.add('DELETE /apps/:appId/keys/:keyId', { params: keyParamsSchema }, async (asked) => {
    const { appId, keyId } = await ownKey(asked);
    const isThere = await apps.revokeKey(ownerOf(control, asked.request), appId, keyId);
    if (!isThere) return noSuchKey();
    await confirmEverywhere(whenEverywhere, asked.reply);
    return undefined;
  });
}

/** The settings in a body, also for the pages of the console. A field that is left out is undefined. */
export function keyChangeOf(body: {
  readonly name?: string | null | undefined;
  readonly expiresAt?: string | null | undefined;
  readonly limits?: z.infer<typeof changeKeySchema>['limits'];
}): KeyChange {
  const { name, expiresAt, limits } = body;
  const budget = limits?.monthlyBudgetMicros;
  return {
    name,
    expiresAtMs: typeof expiresAt === 'string' ? epochMsOf(expiresAt) : expiresAt,
    models: limits?.models,
    addresses: limits?.addresses,
    perMinute: limits?.perMinute,
    monthlyBudget: typeof budget === 'number' ? micros(BigInt(budget)) : budget,
  };
}

/** A key: its hint, never the key, and its options, if it has any. A key that has ended stays in the list. */
function shownKey(key: ApiKey, budgets: ReadonlyMap<string, BudgetUse>) {
  const { settings, boundUser: userId } = key;
  return { ...key, ...settings, userId, limits: settings, budget: budgets.get(key.keyId) };
}

/** A key that was just made, with what was set for it. */
function shownMinted({ keyId, mode, joinSeconds, boundUser: userId, settings }: ApiKey) {
  const { name, expiresAtMs, models, addresses, perMinute, monthlyBudget } = settings;
  const isLimited = [models, addresses, perMinute, monthlyBudget].some((limit) => limit !== null);
  return { keyId, mode, userId, joinSeconds, name, expiresAtMs, limits: isLimited ? settings : undefined };
}
