import path from 'node:path';
import { readDatabaseUrl } from '#db/servers/hosts.ts';
import type { SettingsReader } from '#app/environment/settings-reader.ts';

/**
 * `standby` means that another server has the commit, `disk` that it is on the disk of the server, and `none` that it
 * may be lost.
 */
const DURABILITIES = ['standby', 'disk', 'none'] as const;
export type Durability = (typeof DURABILITIES)[number];

export interface DatabaseSettings {
  /** The URL of the database. Undefined means the embedded PostgreSQL in the data directory. */
  readonly databaseUrl: string | undefined;
  /** What the server of `DATABASE_URL` has to promise of a commit. */
  readonly durability: Durability;
  /** The folder of backups, in which the embedded server keeps its log. Undefined if it keeps none. */
  readonly backups: string | undefined;
}

export function readDatabase(settings: SettingsReader, environment: string): DatabaseSettings {
  const databaseUrl = settings.text('DATABASE_URL');
  const address = databaseUrl === undefined ? undefined : readDatabaseUrl(databaseUrl);
  if (typeof address === 'string') settings.complain(address);
  return {
    databaseUrl,
    durability: readDurability(settings, environment, databaseUrl),
    backups: readBackups(settings, databaseUrl),
  };
}

function readDurability(settings: SettingsReader, environment: string, databaseUrl: string | undefined): Durability {
  const name = 'PURSER_DATABASE_DURABILITY';
  const isSet = settings.text(name) !== undefined;
  if (isSet && databaseUrl === undefined) {
    settings.complain(
      `${name} is for a server of DATABASE_URL. Remove it: the embedded one keeps commits on its disk.`,
    );
  }
  return settings.choice(name, DURABILITIES, environment === 'production' ? 'standby' : 'none');
}

function readBackups(settings: SettingsReader, databaseUrl: string | undefined): string | undefined {
  const folder = settings.text('PURSER_BACKUP_DIR');
  if (folder === undefined) return undefined;
  if (databaseUrl !== undefined) {
    settings.complain(
      'PURSER_BACKUP_DIR is for the embedded database. Remove it, and back up DATABASE_URL with the tools of its server.',
    );
  }
  // The server is given the folder in a setting, and a shell reads it there.
  if (!path.isAbsolute(folder) || /[\r\n\0]/.test(folder)) {
    settings.complain('PURSER_BACKUP_DIR must be an absolute path without a line break.');
  }
  return folder;
}
