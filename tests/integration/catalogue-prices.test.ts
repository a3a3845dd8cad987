import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { parseCatalogueFile } from '../../packages/service/src/catalogue/catalogue-file.ts';
import { runHere } from '../support/commands.ts';
import { PRICE_LIST } from '../support/price-list.ts';
import { runToEnd } from '../support/service-process.ts';

/** The tests run `purser catalogue prices` as an operator does. */

const MINI = {
  id: 'openai.mini',
  provider: 'openai',
  providerModel: 'gpt-4.1-mini',
  resale: 'open',
  marginBasisPoints: 1_500,
  contextTokens: 1_000_000,
  maxOutputTokens: 32_768,
};
const PRICE = { inputMicrosPerMillion: 500_000, outputMicrosPerMillion: 1_600_000 };
const SONNET = {
  ...MINI,
  id: 'anthropic.sonnet',
  provider: 'claude',
  providerModel: 'claude-sonnet-4-5',
  price: PRICE,
};
const catalogue = {
  providers: {
    openai: { kind: 'openai-compatible', baseUrl: 'https://api.openai.com/v1' },
    claude: { kind: 'openai-compatible', baseUrl: 'https://api.anthropic.com/v1' },
  },
  models: [{ ...MINI, price: PRICE }, SONNET],
};

const dataDirectory = mkdtempSync(path.join(os.tmpdir(), 'purser-prices-'));
after(() => rmSync(dataDirectory, { recursive: true, force: true }));
const list = fileOf('api.json', PRICE_LIST);

function fileOf(name: string, content: unknown): string {
  const file = path.join(dataDirectory, name);
  writeFileSync(file, JSON.stringify(content));
  return file;
}

/** Runs the command in this process. Returns what it prints; rejects with the error that it would show. */
async function run(t: TestContext, words: readonly string[], currency: string, catalogueFile: string) {
  const environment = { PURSER_CURRENCY: currency, PURSER_CATALOGUE: catalogueFile };
  const { status, lines } = await runHere(t, ['catalogue', 'prices', ...words], { environment });
  return { status, said: lines.join('\n') };
}

test('MO-10 the command writes a catalogue fit for import', async () => {
  const file = path.join(dataDirectory, 'new.json');
  const options = { dataDirectory, catalogue };
  const words = ['--list', list, '--dollar', '0.5', '--write', file];
  const { status, said } = await runToEnd(options, 'catalogue', 'prices', ...words);
  assert.match(said, /openai\.mini \(openai\/gpt-4\.1-mini\): NEW PRICE\n/);
  assert.match(said, /\n {2}input +0\.50 +0\.20 +0\.20 +-60\.0 %\n {2}cached input +- +0\.05 +0\.05 +new\n/);
  assert.match(said, /anthropic\.sonnet .*: REFUSED\n[^]*! input is negative \(-1\)\./);
  assert.match(said, /1 new, 0 unchanged, 1 refused, 0 not compared\./);
  assert.equal(status, 1);
  const [mini, sonnet] = parseCatalogueFile(readFileSync(file, 'utf8')).models;
  assert.deepEqual(mini?.price, {
    inputMicrosPerMillion: 200_000,
    cachedInputMicrosPerMillion: 50_000,
    outputMicrosPerMillion: 800_000,
  });
  assert.equal(mini?.marginBasisPoints, 1_500);
  assert.deepEqual(sonnet?.price, PRICE);
});

test('MO-10 without --write the command changes nothing', async (t) => {
  const server = createServer((_request, response) => void response.end(JSON.stringify(PRICE_LIST)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api.json`;
  const file = fileOf('ours.json', catalogue);
  const { status, said } = await run(t, ['--list', address, '--model', 'openai.mini'], 'USD', file);
  assert.deepEqual([status, /Nothing was changed\. Add --write/.test(said)], [0, true], said);
  const over = ['--list', list, '--write', list, '--model', 'openai.mini'];
  await assert.rejects(run(t, over, 'USD', file), /exists already/);
  assert.deepEqual(JSON.parse(readFileSync(list, 'utf8')), PRICE_LIST);
});

test('MO-10 dollars become another currency only by a stated rate', async (t) => {
  await assert.rejects(
    run(t, ['--list', list], 'EUR', fileOf('ours.json', catalogue)),
    /how many EUR one US dollar is/,
  );
  const { price: _none, ...unpriced } = SONNET;
  const file = fileOf('some.json', { ...catalogue, models: [{ ...MINI, price: PRICE }, unpriced] });
  const written = path.join(dataDirectory, 'unpriced.json');
  const words = ['--list', list, '--dollar', '1', '--write', written];
  await assert.rejects(run(t, words, 'EUR', file), /models\.1\.price: .*free/);
  assert.equal(existsSync(written), false);
});
