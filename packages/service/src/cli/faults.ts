import { SETUP_STATUS, SetupError, StartError } from '#app/environment/start-error.ts';
import { BackupError } from '#backup/backup-error.ts';
import { CatalogueFileError } from '#catalogue/catalogue-file.ts';
import { CellFault } from '#cells/topology/cells.ts';
import { CommandError, UsageError } from '#cli/terminal/command-error.ts';
import { MigrationError } from '#db/schema/migrate.ts';
import { EmbeddedPostgresError } from '#embedded/files/embedded-postgres-error.ts';
import { describeFault } from '#kernel/log.ts';
import { MonthFault } from '#ledger/months/month-fault.ts';
import { PriceListError } from '#price-lists/price-list-error.ts';

/** Only an operator can change what these say, so that trying again does not help. */
const SETUP = [SetupError, CatalogueFileError, MigrationError];
/** These faults explain themselves and are shown as a plain message. All others are bugs and are shown whole. */
const EXPLAINED = [
  StartError,
  EmbeddedPostgresError,
  MigrationError,
  BackupError,
  CatalogueFileError,
  CellFault,
  MonthFault,
  PriceListError,
  CommandError,
];

/** Returns what to print about a fault that ended a command. */
export function faultInWords(fault: unknown): string {
  if (fault instanceof Error && EXPLAINED.some((kind) => fault instanceof kind)) return fault.message;
  return `Purser ran into an unexpected fault.\n${JSON.stringify(describeFault(fault), undefined, 2)}`;
}

/** Returns the exit status after a fault. */
export function statusOf(fault: unknown): number {
  if (fault instanceof UsageError) return 2;
  return SETUP.some((kind) => fault instanceof kind) ? SETUP_STATUS : 1;
}
