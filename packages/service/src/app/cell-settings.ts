import type { SettingsReader } from '#app/settings.ts';
import { isCellName, NAME_RULE } from '#cells/cells.ts';

/** The name of the cell that the database is. Undefined: it is the only one. */
export function readCell(settings: SettingsReader): string | undefined {
  const name = settings.text('PURSER_CELL');
  if (name !== undefined && !isCellName(name)) settings.complain(`PURSER_CELL must be ${NAME_RULE}.`);
  return name;
}
