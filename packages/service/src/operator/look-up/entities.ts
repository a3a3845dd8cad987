import type { ENTITY_KINDS } from '@purser/contract/operator-overview.ts';
import type { AppId, EndUserId } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';

/** An entity by its id. A wallet's id is its app and its user, with a space between. */
export interface Entity {
  readonly kind: (typeof ENTITY_KINDS)[number];
  readonly id: string;
  /** What people call it, as far as it is known: the name of an app, the mail address of a person, the model of a call. */
  readonly name?: string | undefined;
}

/** An entity that was found, with what belongs to it. */
export interface FoundEntity extends Entity {
  readonly state?: string | undefined;
  readonly atMs?: number | undefined;
  readonly amount?: Micros | undefined;
  readonly related: readonly Entity[];
}

/** A wallet by whose it is. */
export function walletEntity(appId: AppId, userId: EndUserId): Entity {
  return { kind: 'wallet', id: `${appId} ${userId}` };
}
