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
import { z } from 'zod';
import type { KeySettings } from '#developers/keys/settings.ts';
import type { ApiKey, KeyChange } from '#developers/keys/api-key.ts';
import { type ControlPlane, ownApp, ownerOf } from '#http/planes/control-plane.ts';
import { confirmEverywhere } from '#http/planes/confirm-everywhere.ts';
import type { BudgetUse } from '#http/planes/key-budgets.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { epochMsOf, isoOf } from '#kernel/time/clock.ts';
import { micros, microsToWire } from '#kernel/values/micros.ts';
import { refuse } from '#kernel/faults/refusal.ts';

const noSuchKey = () => refuse('NOT_FOUND', 'This app has no such key.');

/** Routes for an app's API keys (CP-03, CP-08). A key is shown only in the answer that makes it; the database has its digest. */
export function addKeyRoutes(plane: Plane, control: ControlPlane): void {
  const { apps, readBudgets } = control;
  const toWire = async (key: ApiKey) => keyToWire(key, await readBudgets([key]));

  plane.post(
    '/apps/:appId/keys',
    { schema: { params: appParamsSchema, body: newKeySchema, response: { 201: mintedKeySchema } } },
    async (request, reply) => {
      const { mode, userId, joinSeconds } = request.body;
      const { appId } = await ownApp(control, request, request.params.appId, mode);
      const options = { mode, boundUser: userId, joinSeconds, ...keyChangeOf(request.body) };
      const { key, apiKey } = granted(await apps.mintKey(ownerOf(control, request), appId, options));
      return reply.code(201).send({ appId, apiKey, ...mintedToWire(key) });
    },
  );

  plane.get(
    '/apps/:appId/keys',
    { schema: { params: appParamsSchema, response: { 200: keyListSchema } } },
    async (request) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      const keys = await apps.listKeys(appId);
      const budgets = await readBudgets(keys);
      return { keys: keys.map((key) => keyToWire(key, budgets)) };
    },
  );

  plane.get(
    '/apps/:appId/keys/:keyId',
    { schema: { params: keyParamsSchema, response: { 200: keySchema } } },
    async (request) => {
      const { appId } = await ownApp(control, request, request.params.appId);
      return toWire(granted((await apps.findKey(appId, request.params.keyId)) ?? noSuchKey()));
    },
  );

  addKeyActs(plane, control);
}

/** Acts on a key that is there. */
function addKeyActs(plane: Plane, control: ControlPlane): void {
  const { apps, readBudgets, whenEverywhere } = control;
  const toWire = async (key: ApiKey) => keyToWire(key, await readBudgets([key]));
  /** Which role an act needs depends on the mode of the key. */
  const modeOf = async ({ appId, keyId }: z.infer<typeof keyParamsSchema>) => (await apps.findKey(appId, keyId))?.mode;

  plane.patch(
    '/apps/:appId/keys/:keyId',
    { schema: { params: keyParamsSchema, body: changeKeySchema, response: { 200: keySchema } } },
    async (request, reply) => {
      const { appId } = await ownApp(control, request, request.params.appId, await modeOf(request.params));
      const key = { appId, keyId: request.params.keyId };
      const changed = await apps.changeKey(ownerOf(control, request), key, keyChangeOf(request.body));
      const answer = await toWire(granted(changed ?? noSuchKey()));
      await confirmEverywhere(whenEverywhere, reply);
      return answer;
    },
  );

  plane.post(
    '/apps/:appId/keys/:keyId/roll',
    { schema: { params: keyParamsSchema, body: rollKeySchema, response: { 201: rolledKeySchema } } },
    async (request, reply) => {
      const { appId } = await ownApp(control, request, request.params.appId, await modeOf(request.params));
      const { overlapSeconds } = request.body;
      const { expiresAtMs } = keyChangeOf(request.body);
      const key = { appId, keyId: request.params.keyId };
      const rolled = await apps.rollKey(ownerOf(control, request), key, { overlapSeconds, expiresAtMs });
      const { key: successor, apiKey, endsAtMs } = granted(rolled ?? noSuchKey());
      await confirmEverywhere(whenEverywhere, reply);
      const ends = { rolledFrom: key.keyId, oldKeyEndsAt: isoOf(endsAtMs) };
      return reply.code(201).send({ appId, apiKey, ...mintedToWire(successor), ...ends });
    },
  );

  plane.delete(
    '/apps/:appId/keys/:keyId',
    { schema: { params: keyParamsSchema, response: { 204: z.null() } } },
    async (request, reply) => {
      const { appId } = await ownApp(control, request, request.params.appId, await modeOf(request.params));
      const isThere = await apps.revokeKey(ownerOf(control, request), appId, request.params.keyId);
      if (!isThere) granted(noSuchKey());
      await confirmEverywhere(whenEverywhere, reply);
      return reply.code(204).send(null);
    },
  );
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
function keyToWire(key: ApiKey, budgets: ReadonlyMap<string, BudgetUse>): z.infer<typeof keySchema> {
  const { keyId, mode, hint, createdAtMs, lastUsedAtMs, revokedAtMs, settings } = key;
  const { name, expiresAtMs } = settings;
  const use = budgets.get(keyId);
  return {
    keyId,
    mode,
    hint,
    ...optionsToWire(key),
    name,
    createdAt: isoOf(createdAtMs),
    lastUsedAt: momentOf(lastUsedAtMs),
    expiresAt: momentOf(expiresAtMs),
    revokedAt: momentOf(revokedAtMs),
    rolledFrom: key.rolledFrom ?? null,
    rolledTo: key.rolledTo ?? null,
    limits: limitsToWire(settings),
    budget: use && { spentMicros: microsToWire(use.spent), heldMicros: microsToWire(use.held) },
  };
}

/** A key that was just made, with what was set for it. */
function mintedToWire(key: ApiKey) {
  const { keyId, mode, settings } = key;
  const { name, expiresAtMs } = settings;
  const limits = limitsToWire(settings);
  return {
    keyId,
    mode,
    ...optionsToWire(key),
    name: name ?? undefined,
    expiresAt: momentOf(expiresAtMs) ?? undefined,
    limits: Object.keys(limits).length === 0 ? undefined : limits,
  };
}

/** Returns the options of a key. Those that are not set are undefined. */
function optionsToWire({ boundUser, joinSeconds }: ApiKey) {
  return { userId: boundUser, joinSeconds };
}

function limitsToWire({ models, addresses, perMinute, monthlyBudget }: KeySettings) {
  return {
    ...(models !== null && { models: [...models] }),
    ...(addresses !== null && { addresses: [...addresses] }),
    ...(perMinute !== null && { perMinute }),
    ...(monthlyBudget !== null && { monthlyBudgetMicros: microsToWire(monthlyBudget) }),
  };
}

function momentOf(epochMs: number | null | undefined): string | null {
  return epochMs === null || epochMs === undefined ? null : isoOf(epochMs);
}
