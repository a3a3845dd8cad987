import { selectAppOfKey } from '#developers/keys/queries.ts';
import type { OwnKeys } from '#developers/keys/own-keys.ts';
import type { Pool } from '#db/pool/pool.ts';
import type { Clock } from '#kernel/time/clock.ts';
import { type AppId, type KeyId, type Mode, parseId } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { selectAnyEvent } from '#webhooks/history/attention-queries.ts';
import type { DeliveryHistory } from '#webhooks/history/history.ts';

/** Reads single keys and events of any app by their ids. Undefined if there is none. */
export type KeysAndEvents = ReturnType<typeof createKeysAndEvents>;

/** A key, never its text. */
export type KeyOfApp = NonNullable<Awaited<ReturnType<KeysAndEvents['anyKey']>>>;

interface DayOfKey {
  readonly atMs: number;
  readonly calls: number;
  readonly chargedCalls: number;
  readonly charged: Micros;
}

interface KeysAndEventsOptions {
  readonly pool: Pool;
  readonly apps: Pick<OwnKeys, 'findKey'>;
  readonly deliveries: Pick<DeliveryHistory, 'event'>;
  readonly stats: {
    readonly keySeries: (of: {
      readonly appId: AppId;
      readonly keyId: KeyId;
      readonly mode: Mode;
      readonly fromMs: number;
      readonly toMs: number;
    }) => Promise<readonly DayOfKey[]>;
  };
  readonly clock: Clock;
}

const DAYS_BEFORE_MS = 29 * 86_400_000; // And today.

export function createKeysAndEvents({ pool, apps, deliveries, stats, clock }: KeysAndEventsOptions) {
  return {
    /** A key with the calls of the last thirty days, each day once. */
    anyKey: async (id: string) => {
      const keyId = parseId('key', id);
      const of = keyId && (await selectAppOfKey(pool, keyId));
      if (keyId === undefined || of === undefined) return undefined;
      const { app_id: appId, mode } = of;
      const toMs = clock.nowMs();
      const range = { appId, keyId, mode, fromMs: toMs - DAYS_BEFORE_MS, toMs };
      const [key, days] = await Promise.all([apps.findKey(appId, keyId), stats.keySeries(range)]);
      return key && { appId, key, days };
    },
    anyEvent: async (eventId: string) => {
      const of = await selectAnyEvent(pool, eventId);
      const event = of && (await deliveries.event(of.app_id, eventId));
      return event && { appId: of.app_id, event };
    },
  };
}
