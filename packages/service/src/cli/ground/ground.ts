import type { Config } from '#app/settings/config.ts';
import type { Pool } from '#db/pool/pool.ts';
import type { Log } from '#kernel/log.ts';

export interface Settings {
  readonly config: Config;
  readonly log: Log;
}

/** Works on the database as its owner, and returns the exit status if that is not 0. */
export type DatabaseCommand = (owner: Pool, settings: Settings) => Promise<number | void>;

/** Commands run on this. Tests give them settings and a database of their own. */
export interface Ground {
  /** Reads the settings of this process. */
  readonly settings: () => Promise<Settings>;
  /** Runs a command on the database. A service may be running on it at the same time. */
  readonly onDatabase: (command: DatabaseCommand) => Promise<number>;
  /**
   * Runs a command on the database as `onDatabase` does, for those that read or write e-mail addresses, or add to the audit trail. It needs the secret of
   * the database.
   */
  readonly withAddresses: (command: DatabaseCommand) => Promise<number>;
}

/** Makes the action of a command from what it does, and keeps its exit status. */
export type Ends = <Given extends unknown[]>(
  work: (...given: Given) => Promise<number | void>,
) => (...given: Given) => Promise<void>;

/** This is the ground of this process. Its modules are loaded when a command needs them. */
export const PROCESS_GROUND: Ground = {
  settings: async () => (await import('#cli/ground/on-database.ts')).readProcessSettings(),
  onDatabase: async (command) => (await import('#cli/ground/on-database.ts')).onDatabase(command),
  withAddresses: async (command) => (await import('#cli/ground/on-database.ts')).withAddresses(command),
};
