import type { THING_KINDS } from '@purser/contract/operator-overview.ts';
import type { AppId, EndUserId } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';

/** A thing by its id. A wallet's id is its app and its user, with a space between. */
export interface Thing {
  readonly kind: (typeof THING_KINDS)[number];
  readonly id: string;
  /** What people call it, as far as it is known: the mail address of an account. */
  readonly name?: string | undefined;
}

/** A thing that was found, with what belongs to it. */
export interface Found extends Thing {
  /** What people call it: the name of an app, the mail address of a person, the model of a call. */
  readonly name: string | undefined;
  readonly state: string | undefined;
  readonly atMs: number | undefined;
  readonly amount: Micros | undefined;
  readonly related: readonly Thing[];
}

export const nothing = { name: undefined, state: undefined, atMs: undefined, amount: undefined } as const;

/** A wallet by whose it is. */
export function walletThing(appId: AppId, userId: EndUserId): Thing {
  return { kind: 'wallet', id: `${appId} ${userId}` };
}
