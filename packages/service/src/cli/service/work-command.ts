import { openDatabase } from '#app/start/database.ts';
import { refuseUnfit } from '#app/start/unfit-database.ts';
import { openKeys } from '#app/secrets/open-keys.ts';
import { refuseCopy } from '#app/start/restored-copy.ts';
import { startWork } from '#app/compose/webhooks.ts';
import type { Settings } from '#cli/ground/ground.ts';
import { say } from '#cli/terminal/say.ts';
import { untilStopSignal } from '#cli/terminal/stop-signal.ts';
import { createKeys, type KeptKeys } from '#kernel/crypto/keys.ts';

/** Delivers webhooks until it is told to stop. A second signal, a second later, ends it at once. */
export async function runWork({ config, log }: Settings): Promise<never> {
  const database = await openDatabase({ config, log, say, mayShare: true });
  let keptKeys: KeptKeys;
  try {
    await refuseUnfit(config, log);
    await refuseCopy(database.owner);
    keptKeys = await openKeys(database.owner, config, { isGateway: false, say });
  } catch (fault) {
    await database.close();
    throw fault;
  }
  const work = startWork(config, createKeys(config, keptKeys), log, database.url);
  say('Purser delivers webhooks.');
  await untilStopSignal();
  say('Stopping. Running attempts may finish first.');
  await work.stop();
  await database.close();
  process.exit(0);
}
