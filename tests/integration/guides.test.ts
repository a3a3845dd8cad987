import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { DEMO_OPERATOR_EMAIL, DEMO_OWNER_EMAIL } from '../../packages/service/src/app/start/demo.ts';
import { ROOT } from '../../tools/toolchain.ts';
import { send } from '../support/client.ts';
import { signIn } from '../support/control.ts';
import { namesIn, routesIn, rowsUnder } from '../documents/documents.ts';
import { createTestDatabase } from '../support/database.ts';
import { GUIDES, type GuideStage, guideBlocks } from '../support/guide-blocks.ts';
import { newProject, packSdk } from '../support/sdk-package.ts';
import { readDemo, startServiceProcess } from '../support/service-process.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Runs every block of the guides in order, on a service with the demo, as `npm start` starts one. */

const CLIENTS = ['openai'];

const catalogue = JSON.parse(readFileSync(path.join(ROOT, 'packages/service/demo-catalogue.json'), 'utf8')) as unknown;
const dataDirectory = mkdtempSync(path.join(os.tmpdir(), 'purser-guides-'));
const database = await createTestDatabase();
const service = await startServiceProcess({
  dataDirectory,
  catalogue,
  databaseUrl: database.url,
  environment: { PURSER_PUBLIC_URL: 'http://localhost:8787' }, // The address that the guides show.
});
after(async () => {
  await service.stop();
  await database.close();
  rmSync(dataDirectory, { recursive: true, force: true });
});
const stage = await setStage();

async function setStage(): Promise<GuideStage> {
  const demo = readDemo(dataDirectory) as ReturnType<typeof readDemo> & Readonly<Record<string, string>>;
  const { url } = service;
  const owner = await signIn({ url }, DEMO_OWNER_EMAIL, demo['ownerPassword']);
  const operator = await signIn({ url }, DEMO_OPERATOR_EMAIL, demo['operatorPassword']);
  await waitUntil(
    'the key is known',
    async () => (await send('/v1/models', { url, key: demo.liveKey })).status === 200,
  );
  return {
    project: await newProject(await packSdk(), { type: 'module' }, CLIENTS),
    dataDirectory,
    environment: {
      PURSER_URL: url,
      PURSER_API_KEY: demo.liveKey,
      PURSER_TEST_KEY: demo['testKey'] ?? '',
      PURSER_WEBHOOK_SECRET: 'whsec_of_this_test',
      PURSER_APP_ID: demo.appId,
      PURSER_OWNER_EMAIL: DEMO_OWNER_EMAIL,
      PURSER_OWNER_PASSWORD: demo['ownerPassword'] ?? '',
      PURSER_SESSION_TOKEN: owner.token ?? '',
      PURSER_OPERATOR_TOKEN: operator.token ?? '',
    },
  };
}

for (const guide of GUIDES) {
  for (const block of guideBlocks(guide)) {
    const { name, skip } = block;
    test(`OP-18 ${guide}: ${name} does what it says`, { skip }, () => block.run(stage));
  }
}

test('OP-05 the operator’s guide lists exactly the exported metrics', async () => {
  const { text } = await send('/metrics', { url: service.url });
  const served = [...text.matchAll(/^# HELP (\w+)/gm)].map(([, name = '']) => name);
  const told = rowsUnder('docs/guides/operator/metrics.md', '## Metrics').flatMap(([name = '']) => namesIn(name));
  assert.deepEqual(told.toSorted(), served.toSorted());
});

test('OP-05 every metric in alerts and dashboard is served', async () => {
  const { text } = await send('/metrics', { url: service.url });
  const served = new Set<string>();
  for (const [, name = '', kind] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
    served.add(name);
    if (kind === 'histogram') for (const part of ['bucket', 'sum', 'count']) served.add(`${name}_${part}`);
  }
  for (const file of ['prometheus/purser.rules.yml', 'prometheus/purser.rules.test.yml', 'grafana/purser.json']) {
    const named = readFileSync(path.join(ROOT, 'deploy', file), 'utf8').match(/\bpurser_\w+/g) ?? [];
    assert.ok(named.length > 20, file);
    assert.deepEqual(
      named.filter((name) => !served.has(name)),
      [],
      file,
    );
  }
});

test('OP-18 each route that a document names exists', async () => {
  const { body } = await send('/openapi.json', { url: service.url });
  const paths = body['paths'] as Readonly<Record<string, object>>;
  const there = Object.entries(paths).flatMap(([address, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${address}`),
  );
  for (const document of [...GUIDES, 'docs/SANDBOX.md']) {
    for (const route of routesIn(document)) assert.ok(there.includes(route), `${document}: ${route}`);
  }
});

test('OP-18 a block that nothing can run is refused', () => {
  assert.throws(() => guideBlocks('docs/ARCHITECTURE.md'), /nothing runs such a block/);
});
