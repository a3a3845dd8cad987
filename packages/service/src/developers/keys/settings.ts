import { BlockList, isIPv6 } from 'node:net';
import type { KeyBudget } from '#kernel/calls/hold.ts';
import type { KeyId } from '#kernel/values/ids.ts';
import { type Micros, microsFromRow } from '#kernel/values/micros.ts';
import type { RateLimits } from '#limits/rate-limit.ts';

/** What an owner may set on a key and change later (CP-08). A field is null if it is not set. */
export interface KeySettings {
  readonly name: string | null;
  /** The time from which the key is refused like a revoked one. */
  readonly expiresAtMs: number | null;
  /** Identifiers and aliases that it may call. An alias allows the model that it points to, under any name. */
  readonly models: readonly string[] | null;
  /** Addresses and networks that it may be used from. */
  readonly addresses: readonly string[] | null;
  /** Calls a minute, beside the app's own limit. As many may come at once. */
  readonly perMinute: number | null;
  /** The most that its calls may be charged and hold in a calendar month (UTC). */
  readonly monthlyBudget: Micros | null;
}

export const NO_SETTINGS: KeySettings = {
  name: null,
  expiresAtMs: null,
  models: null,
  addresses: null,
  perMinute: null,
  monthlyBudget: null,
};

/** What the data plane needs to know about a key, ready for use in every call. */
export interface KeyFacts {
  /** The first key of its line: rate and budget are counted under it, so that a rolled key goes on with what is left. */
  readonly line: KeyId;
  readonly models: readonly string[] | null;
  readonly rate: RateLimits | null;
  readonly budget: KeyBudget | undefined;
  /** Tells whether the key may be used from an address. It is undefined if the key may be used from anywhere. */
  readonly allowsAddress: ((address: string) => boolean) | undefined;
}

/** The settings of a key as the table has them, with the first key of its line. */
interface KeySettingsRow {
  readonly key_id: KeyId;
  /** The first key of its line, as which this key counts. It is null if that is the key itself. */
  readonly counts_as: KeyId | null;
  readonly models: readonly string[] | null;
  readonly addresses: readonly string[] | null;
  readonly rate_per_minute: number | null;
  readonly budget_micros: bigint | null;
}

export function keyFactsOf(row: KeySettingsRow): KeyFacts {
  const { key_id: keyId, rate_per_minute: perMinute, budget_micros: budget, addresses } = row;
  const line = row.counts_as ?? keyId;
  return {
    line,
    models: row.models,
    rate: perMinute === null ? null : { ratePerMinute: perMinute, rateBurst: perMinute },
    budget: budget === null ? undefined : { key: line, micros: microsFromRow(budget) },
    allowsAddress: addresses === null ? undefined : matcherOf(addresses),
  };
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv6(address) ? 'ipv6' : 'ipv4');

/** Tells whether an address is one of these, or in one of these networks (`192.0.2.0/24`). */
function matcherOf(addresses: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const text of addresses) {
    const [address = '', bits] = text.split('/');
    if (bits === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(bits), familyOf(address));
  }
  // An address with a zone, such as `fe80::1%eth0`, is in no list.
  return (address) => !address.includes('%') && address !== '' && list.check(address, familyOf(address));
}
