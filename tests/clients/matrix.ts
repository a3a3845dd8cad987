import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Scene } from './scene.ts';
import { SCENARIOS } from './scenarios.ts';
import type { RunningClient, StockClient } from './stock-client.ts';

/** A client and its results by scenario; a missing one was not run. */
export interface Column {
  readonly client: StockClient;
  readonly version: string;
  readonly seen: Map<string, string>;
}

/**
 * Puts the client through every scenario, at once if it can. A difference in a version that nobody has looked at, such as
 * that of a machine's own Python, is only noted: if the service is at fault, the scenario itself fails.
 */
export function runScenarios({ client, version, seen }: Column, sceneOf: (running: RunningClient) => Scene): void {
  const isKnown = client.seenWith?.includes(version) ?? true;
  describe(client.name, { concurrency: client.isSerial !== true }, () => {
    let running: RunningClient | undefined;
    before(async () => {
      running = await client.start();
    });
    after(() => running?.close());
    for (const { name, clause, promise, run } of SCENARIOS) {
      test(`${clause} ${client.name} ${promise}`, async () => {
        assert.ok(running);
        const outcome = await run(sceneOf(running));
        seen.set(name, outcome);
        if (isKnown) assert.equal(outcome, expectedOf(client, name));
      });
    }
  });
}

/** The result that `docs/CLIENTS.md` gives for the client. */
export function expectedOf({ differs }: StockClient, scenario: string): string {
  return differs[scenario]?.seen ?? 'ok';
}

/** A line for each scenario and a column for each client, in Markdown that is also readable as text. */
export function matrixText(columns: readonly Column[]): string {
  const rows = [
    ['clause', 'scenario', ...columns.map(({ client }) => client.name)],
    ['', 'version', ...columns.map(({ version }) => version)],
    ...SCENARIOS.map(({ name, clause }) => [clause, name, ...columns.map(({ seen }) => seen.get(name) ?? 'not run')]),
  ];
  const widths = rows[0]!.map((_, index) => Math.max(...rows.map((row) => row[index]!.length)));
  const lines = rows.map((row) => `| ${row.map((cell, index) => cell.padEnd(widths[index]!)).join(' | ')} |`);
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [lines[0], rule, ...lines.slice(1)].join('\n');
}
