import path from 'node:path';
import { readDatabaseUrl } from '#db/hosts.ts';
import type { SettingsReader } from '#app/settings.ts';

export interface DatabaseSettings {
  /** Undefined means the embedded PostgreSQL in the data directory. */
  readonly databaseUrl: string | undefined;
  /** The folder of backups, in which the embedded server keeps its log. Undefined: it keeps none. */
  readonly backups: string | undefined;
}

export function readDatabase(settings: SettingsReader): DatabaseSettings {
  const databaseUrl = settings.text('DATABASE_URL');
  const address = databaseUrl === undefined ? undefined : readDatabaseUrl(databaseUrl);
  if (typeof address === 'string') settings.complain(address);
  return { databaseUrl, backups: readBackups(settings, databaseUrl) };
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
