import { PROCESS_GROUND } from '#cli/ground/ground.ts';
import { runCommand } from '#cli/run-command.ts';
import { say } from '#cli/terminal/say.ts';

try {
  process.exitCode = await runCommand(process.argv.slice(2), PROCESS_GROUND);
} catch (fault) {
  const { faultInWords, statusOf } = await import('#cli/faults.ts');
  say(faultInWords(fault));
  process.exit(statusOf(fault));
}
