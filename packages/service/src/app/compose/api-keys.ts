import { createKeyDirectory, type KeyDirectory, readAppFacts } from '#developers/keys/directory.ts';
import { startKeyUse } from '#developers/keys/last-use.ts';
import { type MakeSingleUseKey, withSingleUseKeys } from '#developers/keys/single-use-keys.ts';
import type { Ground, Stoppable } from '#app/process/ground.ts';
import { markPort } from '#kernel/faults/failpoint.ts';

/** The keys and apps in memory, with keys that work once. */
export interface ApiKeys extends KeyDirectory, Stoppable {
  readonly makeSingleUse: MakeSingleUseKey;
  /** Those of the database alone. */
  readonly directory: KeyDirectory;
}

export function openApiKeys({ config, pools, clock, log }: Ground): ApiKeys {
  const db = pools.upkeep;
  const { note, stop } = startKeyUse({ db, clock, log });
  const directory = markPort('keys', createKeyDirectory(db, config.appLimits, note));
  return { ...withSingleUseKeys(directory, (appId) => readAppFacts(db, config.appLimits, appId)), directory, stop };
}
