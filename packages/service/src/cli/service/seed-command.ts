import { makeDataDirectory } from '#app/environment/data-directory.ts';
import { ensureDemo } from '#app/start/demo.ts';
import type { DatabaseCommand } from '#cli/ground/ground.ts';

/** Creates the demo account, app, keys and user, and prints them as JSON. */
export const printDemo: DatabaseCommand = async (owner, { config }) => {
  makeDataDirectory(config.dataDirectory);
  console.log(JSON.stringify(await ensureDemo(owner, config), undefined, 2));
};
