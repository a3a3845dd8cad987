import { emailSealOf } from '#app/secrets/address-seal.ts';
import { readProcessConfig } from '#app/settings/config.ts';
import { openDatabase } from '#app/start/database.ts';
import { openKeys } from '#app/secrets/open-keys.ts';
import { openLog } from '#app/process/readable-log.ts';
import type { DatabaseCommand, Settings } from '#cli/ground/ground.ts';
import { say } from '#cli/terminal/say.ts';
import { createKeys } from '#kernel/crypto/keys.ts';

/** Reads the settings of this process and opens its log. */
export function readProcessSettings(): Settings {
  const config = readProcessConfig();
  return { config, log: openLog(config) };
}

/** Runs a command on the database that the settings name. A service may be running on it at the same time. */
export async function onDatabase(command: DatabaseCommand): Promise<number> {
  const settings = readProcessSettings();
  const database = await openDatabase({ ...settings, say, mayShare: true });
  try {
    return (await command(database.owner, settings)) ?? 0;
  } finally {
    await database.close();
  }
}

/** Runs a command that reads or writes e-mail addresses, or adds to the audit trail. */
export async function withAddresses(command: DatabaseCommand): Promise<number> {
  return onDatabase(async (owner, settings) => {
    const keptKeys = await openKeys(owner, settings.config, { isGateway: false, say });
    owner.emails = emailSealOf(createKeys(settings.config, keptKeys));
    return command(owner, settings);
  });
}
