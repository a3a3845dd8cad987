import type { KeyListRow } from '#developers/keys/queries.ts';
import type { KeySettings } from '#developers/keys/settings.ts';
import type { Facts } from '#audit/entry.ts';
import { type Clock, isoOf } from '#kernel/time/clock.ts';
import type { EndUserId, KeyId, Mode } from '#kernel/values/ids.ts';
import { microsFromRow } from '#kernel/values/micros.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/** What an owner chooses when they make a key, and cannot change later. */
export interface KeyOptions {
  readonly mode: Mode;
  /** The only end user of calls with this key. Undefined if each call names its own. */
  readonly boundUser: EndUserId | undefined;
  /** How long after its end a call answers others with the same body (CC-14). Undefined if only a marked retry gets its answer. */
  readonly joinSeconds: number | undefined;
}

/** A key as its owner sees it. The key itself cannot be read again. */
export interface ApiKey extends KeyOptions {
  readonly keyId: KeyId;
  /** The prefix and last characters: enough for its owner to tell it from others. */
  readonly hint: string;
  readonly createdAtMs: number;
  /** The time of the last use, recorded within a minute of it. It is undefined if the key was never used. */
  readonly lastUsedAtMs: number | undefined;
  readonly revokedAtMs: number | undefined;
  readonly settings: KeySettings;
  /** The first key of its line, under which its budget is counted. */
  readonly line: KeyId;
  /** The key that it succeeds, and the one that succeeds it. */
  readonly rolledFrom: KeyId | undefined;
  readonly rolledTo: KeyId | undefined;
}

/** Undefined fields stay as they are. In a new key, they stay at none. */
export type KeyChange = { readonly [Field in keyof KeySettings]?: KeySettings[Field] | undefined };

/** What settings are judged by. */
export interface KeyRules {
  readonly clock: Clock;
  /** Whether the service serves a model or alias of this name. */
  readonly isModel: (name: string) => boolean;
}

/** Refuses what no schema can see: an expiry that has passed, and models that are not served. */
export function refusalOf(
  { expiresAtMs, models }: KeyChange,
  { clock, isModel }: KeyRules,
): Refusal<'BAD_REQUEST'> | undefined {
  if (typeof expiresAtMs === 'number' && expiresAtMs <= clock.nowMs()) {
    return refuse('BAD_REQUEST', '`expiresAt` must be in the future. To end a key now, revoke it.', {
      param: 'expiresAt',
    });
  }
  const unknown = models?.find((name) => !isModel(name));
  if (unknown === undefined) return undefined;
  const message = `\`limits.models\` names \`${unknown}\`, which is not served here: see \`GET /v1/models\`.`;
  return refuse('BAD_REQUEST', message, { param: 'limits.models' });
}

/** The settings with those fields replaced that the change has. */
export function withChange(settings: KeySettings, change: KeyChange): KeySettings {
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  return { ...settings, ...(Object.fromEntries(given) as Partial<KeySettings>) };
}

/** Settings as the trail shows them. */
export function factsOf({ name, expiresAtMs, models, addresses, perMinute, monthlyBudget }: KeySettings): Facts {
  const expiresAt = expiresAtMs === null ? null : isoOf(expiresAtMs);
  return { name, expiresAt, models, addresses, perMinute, monthlyBudgetMicros: monthlyBudget };
}

/** Those that are set. */
export function setFacts(settings: KeySettings): Facts {
  return Object.fromEntries(Object.entries(factsOf(settings)).filter(([, value]) => value !== null));
}

export function keyOf(row: KeyListRow): ApiKey {
  return {
    keyId: row.key_id,
    mode: row.mode,
    hint: row.hint,
    boundUser: row.bound_user ?? undefined,
    joinSeconds: row.join_seconds ?? undefined,
    createdAtMs: row.created_at.getTime(),
    lastUsedAtMs: row.last_used_at?.getTime(),
    revokedAtMs: row.revoked_at?.getTime(),
    settings: {
      name: row.name,
      expiresAtMs: row.expires_at?.getTime() ?? null,
      models: row.models,
      addresses: row.addresses,
      perMinute: row.rate_per_minute,
      monthlyBudget: row.budget_micros === null ? null : microsFromRow(row.budget_micros),
    },
    line: row.counts_as ?? row.key_id,
    rolledFrom: row.rolled_from ?? undefined,
    rolledTo: row.rolled_to ?? undefined,
  };
}
