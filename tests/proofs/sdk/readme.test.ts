import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { ERROR_STATUS } from '../../../packages/contract/src/errors.ts';
import { ROOT } from '../../../tools/toolchain.ts';
import { type Block, blocksOf, newProject, packSdk } from '../../support/sdk-package.ts';
import { setSimulatedStage } from '../../support/simulated-service.ts';

/** Every block of the package's README, run in an app's project against the real service. */

const README = 'packages/sdk/README.md';
const CLIENTS = [
  'openai',
  '@anthropic-ai/sdk',
  'ai',
  '@ai-sdk/openai-compatible',
  '@langchain/openai',
  '@langchain/core',
];

const simulated = await setSimulatedStage({ demo: 'sim.echo-1' });
await simulated.service.fund(simulated.app, 'demo-user', 100_000_000);
const project = await newProject(await packSdk(), { type: 'module' }, CLIENTS);
const environment = {
  PURSER_URL: simulated.service.url,
  PURSER_API_KEY: simulated.app.liveKey,
  PURSER_WEBHOOK_SECRET: 'whsec_of_this_test',
};

const ANSWERED = /simulator/;
/** The expected output of the blocks under each heading. */
const TOLD: Readonly<Record<string, readonly RegExp[]>> = {
  'Quick start': [ANSWERED],
  'Other clients': [ANSWERED, ANSWERED, ANSWERED, /^true$/],
  Streams: [ANSWERED, /^PAYMENT_REQUIRED$/],
  'What a call cost': [/^true$/],
  Errors: [/^PAYMENT_REQUIRED and a link$/],
  Wallets: [/^true EUR true \/connect\/$/],
  Webhooks: [/^anna has paid\n1 204\n2 204$/],
};

const blocks = blocksOf(README);
const scripts = blocks.filter(({ language, file }) => language === 'js' && file === undefined);

test('SDK-02 the README has these blocks and no others', () => {
  const counts = Object.entries(TOLD).map(([heading, told]) => [heading, told.length]);
  const found = Object.groupBy(scripts, ({ heading }) => heading);
  assert.deepEqual(
    Object.entries(found).map(([heading, list]) => [heading, list?.length]),
    counts,
  );
  const others = blocks.filter((block) => !scripts.includes(block)).map(({ language, file }) => file ?? language);
  assert.deepEqual(others, ['sh', 'receive.js']);
});

for (const [index, { heading, code }] of scripts.entries()) {
  const place = scripts.slice(0, index).filter((block) => block.heading === heading).length;
  test(`SDK-02 the README's block ${place + 1} under ${heading} does what it says`, async () => {
    for (const { file, code: text } of blocks) if (file !== undefined) project.write(file, text);
    project.write(`block-${index}.js`, code);
    assert.match(await project.run(`block-${index}.js`, { environment }), TOLD[heading]?.[place] ?? /^$/);
  });
}

test('SDK-02 the quick start has ten lines at most', () => {
  const [first] = scripts;
  assert.equal(first?.heading, 'Quick start');
  assert.ok(linesOf(first) <= 10);
});

function linesOf({ code }: Block): number {
  return code.split('\n').filter((line) => line !== '').length;
}

test('SDK-02 the README’s command packs a fresh build', async () => {
  const [command] = blocks.filter(({ language }) => language === 'sh');
  assert.equal(command?.code, 'npm pack -w packages/sdk\n');
  const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-sdk-packed-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  rmSync(path.join(ROOT, 'packages/sdk/dist'), { recursive: true, force: true }); // An older build does not count.
  const [program = '', ...args] = command.code.trim().split(' ');
  await promisify(execFile)(program, [...args, '--pack-destination', folder], { cwd: ROOT });
  const text = readFileSync(path.join(ROOT, README), 'utf8');
  const [name = ''] = /purser-sdk-[\d.]+\.tgz/.exec(text) ?? [];
  assert.ok(existsSync(path.join(folder, name)), name);
  const packed = await newProject(path.join(folder, name));
  packed.write('use.cjs', `console.log(typeof require('@purser/sdk').Purser)`);
  assert.equal(await packed.run('use.cjs'), 'function');
});

test('SDK-01 the README explains each code a helper can raise', () => {
  const text = readFileSync(path.join(ROOT, README), 'utf8');
  const rows = [...text.matchAll(/^\| (`[A-Z_]+`(?:, `[A-Z_]+`)*) \|/gm)].flatMap(
    ([, cell = '']) => cell.match(/[A-Z_]+/g) ?? [],
  );
  const raised = [
    'BAD_REQUEST',
    'UNAUTHORIZED',
    'APP_SUSPENDED',
    'TOO_MANY_REQUESTS',
    'INTERNAL_SERVER_ERROR',
    'UNKNOWN',
  ];
  const paid = Object.entries(ERROR_STATUS).flatMap(([code, status]) => (status === 402 ? [code] : []));
  assert.deepEqual(rows.toSorted(), [...raised, ...paid].toSorted());
});
