import { describe, test } from 'node:test';
import { CLIENTS } from '../clients/clients.ts';
import { type Column, matrixText, runScenarios } from '../clients/matrix.ts';
import { HOW_TO_GET_PYTHON, PYTHON_CLIENTS, pythonVersion } from '../clients/python.ts';
import { CODEX_ALIAS } from '../clients/scenario.ts';
import { createScenes } from '../clients/scene.ts';
import type { StockClient } from '../clients/stock-client.ts';
import { installedVersions } from '../clients/versions.ts';
import { setStage } from '../support/stage.ts';

/** Every stock client through every scenario, each on its own users: most of the time goes into their back-offs. */

const stage = await setStage({
  // @ai-sdk/anthropic asks for 4,096 tokens of a model that it does not know.
  model: { imageTokensMax: 1_000, timeoutMs: 60_000, maxOutputTokens: 8_000 },
  catalogue: (basis) => ({ ...basis, aliases: { ...basis.aliases, [CODEX_ALIAS]: 'acme.large-1' } }),
});
const sceneOf = createScenes(stage);
const columns: Column[] = [];

describe('stock clients', { concurrency: true }, () => {
  for (const client of CLIENTS) run(client, installedVersions(client));
  for (const client of PYTHON_CLIENTS) {
    const version = pythonVersion(client);
    if (version === undefined) test(client.name, { skip: HOW_TO_GET_PYTHON });
    else run(client, version);
  }
});

function run(client: StockClient, version: string): void {
  const column = { client, version, seen: new Map<string, string>() };
  columns.push(column);
  runScenarios(column, sceneOf);
}

test('CC-01 after all scenarios books and table are right', async (t) => {
  t.assert.deepEqual(await stage.service.check(), []);
  const ran = columns.filter(({ seen }) => seen.size > 0);
  if (ran.length > 0) t.diagnostic(`stock clients\n\n${matrixText(ran)}\n`);
});
