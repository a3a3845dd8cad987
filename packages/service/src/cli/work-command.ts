import { openDatabase } from '#app/database.ts';
import { refuseUnfit } from '#app/fit-database.ts';
import { openKeys } from '#app/keys.ts';
import { refuseCopy } from '#app/restored.ts';
import { startWork } from '#app/webhooks.ts';
import type { Settings } from '#cli/ground.ts';
import { say } from '#cli/say.ts';
import { untilToldToStop } from '#cli/until-told.ts';
import { createKeys, type KeptKeys } from '#kernel/keys.ts';

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
  await untilToldToStop();
  say('Stopping. Running attempts may finish first.');
  await work.stop();
  await database.close();
  process.exit(0);
}
