import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Scene } from './scene.ts';
import { SCENARIOS } from './scenarios.ts';
import type { RunningClient, StockClient } from './stock-client.ts';

/** A client with what was seen of it, by scenario; what is missing was not run. */
export interface Column {
  readonly client: StockClient;
  readonly version: string;
  readonly seen: Map<string, string>;
}

/**
 * Puts the client through every scenario, at once where it can. What differs in a version that nobody has looked at, as
 * a machine's own Python may have one, is only noted: where the service is at fault, the scenario itself fails.
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

/** What `docs/CLIENTS.md` says is seen of the client. */
export function expectedOf({ differs }: StockClient, scenario: string): string {
  return differs[scenario]?.seen ?? 'ok';
}

/** A line a scenario and a column a client, in Markdown that is also to be read as it is. */
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
