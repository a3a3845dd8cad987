// `npm run proofs -- fuzz`: see README.md in this folder.
import { parseArgs } from 'node:util';
import { globalSetup, globalTeardown } from '../../support/global-setup.ts';
import { fuzz } from './fuzz-run.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    slots: { type: 'string', default: '16' },
    only: { type: 'string' },
  },
});
const seed = wholeOf('seed', values.seed);
const only = values.only === undefined ? undefined : wholeOf('only', values.only);
const requests = only === undefined ? wholeOf('requests', values.requests) : 1;
const TELL_EVERY = 10_000;
const MIB = 1024 * 1024;

console.log(`seed ${seed}, ${requests} requests`);
await globalSetup();
try {
  const startedAt = performance.now();
  const { violations, memory, ...figures } = await fuzz({
    seed,
    requests,
    slots: wholeOf('slots', values.slots),
    ...(only === undefined ? {} : { first: only }),
    onProgress: (sent, now) => {
      if (sent % TELL_EVERY === 0) console.log(`${sent} sent, ${shown(now)}`);
    },
  });
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  console.log(JSON.stringify({ seed, seconds, ...figures, violations: violations.length }, undefined, 2));
  for (const [when, then] of Object.entries(memory)) console.log(`memory, ${when}: ${shown(then)}`);
  for (const violation of violations) console.log(`\n${violation}`);
  process.exitCode = violations.length === 0 ? 0 : 1;
} finally {
  await globalTeardown();
}

function shown({ resident, heap }: { readonly resident: number; readonly heap: number }): string {
  return `${(resident / MIB).toFixed(0)} MiB resident, ${(heap / MIB).toFixed(0)} MiB of heap`;
}

function wholeOf(name: string, text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 0) return number;
  console.error(`--${name} must be a whole number.`);
  process.exit(2);
}
