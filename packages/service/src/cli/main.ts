import { keepKnownImports } from '#cli/ground/known-imports.ts';

keepKnownImports(); // All that is imported above is known without it.
const { say } = await import('#cli/terminal/say.ts');
try {
  const { runCommand } = await import('#cli/run-command.ts');
  const { PROCESS_GROUND } = await import('#cli/ground/ground.ts');
  process.exitCode = await runCommand(process.argv.slice(2), PROCESS_GROUND);
} catch (fault) {
  const { faultInWords, statusOf } = await import('#cli/faults.ts');
  say(faultInWords(fault));
  process.exit(statusOf(fault));
}
