import type { SettingsReader } from '#app/environment/settings-reader.ts';
import { readDatabaseUrl } from '#db/servers/hosts.ts';
import { CELL_NAME_RULE, isCellName } from '#kernel/values/slot.ts';

/** The name of the cell that the database is. Undefined if it is the only one. */
export function readCell(settings: SettingsReader): string | undefined {
  const name = settings.text('PURSER_CELL');
  if (name !== undefined && !isCellName(name)) settings.complain(`PURSER_CELL must be ${CELL_NAME_RULE}.`);
  return name;
}

/** The databases of other cells that commands use. */
export interface CellDatabases {
  /** The one that has the directory of all cells. For `purser cells subscribe` and `purser cells move`. */
  readonly directoryUrl: string | undefined;
  /** The one of the cell that takes slots. For `purser cells move`. */
  readonly otherDatabaseUrl: string | undefined;
}

export function readCellDatabases(settings: SettingsReader): CellDatabases {
  return {
    directoryUrl: readOther(settings, 'PURSER_DIRECTORY_URL'),
    otherDatabaseUrl: readOther(settings, 'PURSER_OTHER_DATABASE_URL'),
  };
}

function readOther(settings: SettingsReader, name: string): string | undefined {
  const text = settings.text(name);
  const fault = text === undefined ? undefined : readDatabaseUrl(text);
  if (typeof fault === 'string') settings.complain(fault.replaceAll('DATABASE_URL', name));
  return text;
}
