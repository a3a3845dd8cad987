// Measures what a call costs, beside a proxy that does nothing and a gateway that charges nothing: `npm run bench`.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Bench, Measure } from './measure.ts';
import { plain } from './measures/plain.ts';
import { type Ground, startGround } from './support/ground.ts';
import { pinSelf } from './support/processes.ts';
import { shortNumber, tableOf } from './support/table.ts';
import { findTools, placement } from './support/tools.ts';

const MEASURES: readonly Measure[] = [plain];
const USERS = 10_000;

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    scale: { type: 'boolean', default: false },
  },
});

const tools = findTools(process.env['PATH'] ?? '');
pinSelf(tools, placement().load);
const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-bench-'));
let ground: Promise<Ground> | undefined;
const bench: Bench = {
  tools,
  directory,
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  ground: () => (ground ??= startGround({ tools, directory, users: USERS })),
  say: (text) => console.error(text),
  missing: (what, how) => console.error(`missing: ${what} (${how})`),
  note: (text) => console.error(text),
};
try {
  for (const measure of MEASURES) {
    if (values.only !== undefined && !values.only.includes(measure.name)) continue;
    const rows = await measure.run(bench);
    const columns = [...new Set(rows.flatMap(({ figures }) => Object.keys(figures)))];
    console.log(
      tableOf(
        ['target', ...columns],
        rows.map(({ target, figures, isVoid }) => [
          isVoid === undefined ? target : `${target} (void)`,
          ...columns.map((column) => shortNumber(figures[column]?.median ?? Number.NaN)),
        ]),
      ),
    );
  }
} finally {
  await (await ground)?.close();
  rmSync(directory, { recursive: true, force: true });
}
