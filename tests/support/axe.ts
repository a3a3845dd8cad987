import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const BAD = new Set(['serious', 'critical']);

interface Finding {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Nobody is shut out of the page as it is shown: axe finds nothing serious. Needs a context with scripts. */
export async function assertAccessible(page: Page, name: string): Promise<void> {
  // By the debugger, which the policy of the page does not bind.
  const found = (await page.evaluate(
    `${AXE}; axe.run(document, { resultTypes: ['violations'] }).then((all) => all.violations)`,
  )) as Finding[];
  const bad = found.filter(({ impact }) => BAD.has(impact ?? ''));
  const told = bad.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html}\n  ${failureSummary}`).join('\n')}`,
  );
  assert.deepEqual(told, [], name);
}
