import type { SettingsReader } from '#app/settings.ts';
import { isCellName, NAME_RULE } from '#cells/cells.ts';
import { readDatabaseUrl } from '#db/hosts.ts';

/** The name of the cell that the database is. Undefined: it is the only one. */
export function readCell(settings: SettingsReader): string | undefined {
  const name = settings.text('PURSER_CELL');
  if (name !== undefined && !isCellName(name)) settings.complain(`PURSER_CELL must be ${NAME_RULE}.`);
  return name;
}

/** The database that has the directory of all cells. Only `purser cells subscribe` uses it. */
export function readDirectoryUrl(settings: SettingsReader): string | undefined {
  const text = settings.text('PURSER_DIRECTORY_URL');
  const fault = text === undefined ? undefined : readDatabaseUrl(text);
  if (typeof fault === 'string') settings.complain(fault.replaceAll('DATABASE_URL', 'PURSER_DIRECTORY_URL'));
  return text;
}
