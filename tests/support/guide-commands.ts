import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { answerOf, GOOD_SERVER } from './probed-server.ts';
import { PRICE_LIST } from './price-list.ts';
import { startScriptedUpstream } from './scripted-upstream.ts';
import { blocksOf } from './sdk-package.ts';
import { runToEnd } from './service-process.ts';

const CATALOGUE_PAGE = 'docs/guides/operator/catalogue.md';
const LOCAL_URL = 'http://127.0.0.1:11434/v1';
const COMMAND = /npm run purser -- (.+)/;

/**
 * The output of a `purser` command that a guide shows, on the catalogue of the operator's guide. The price list is a file, a
 * scripted server is at the address of the local one, and files that the command writes go to a folder of their own.
 */
export async function outputOfPurser(shell: string): Promise<string> {
  const words = COMMAND.exec(shell.replaceAll(/\\\n\s*/g, ''))?.[1]?.split(' ') ?? [];
  const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-guide-'));
  try {
    const list = path.join(folder, 'api.json');
    writeFileSync(list, JSON.stringify(PRICE_LIST));
    const here = words.map((word) => word.replace(/^\/etc\/purser(?=\/)/, folder));
    await using local = await startLocal();
    const options = {
      dataDirectory: folder,
      catalogue: guideCatalogue(words.includes('probe') ? local.baseUrl : undefined),
    };
    const { said } = await runToEnd(options, ...here, ...(words.includes('prices') ? ['--list', list] : []));
    return said.replaceAll(folder, '/etc/purser').replace('/etc/purser/api.json', 'https://models.dev/api.json');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The catalogue of the guide. Its local server is at this address if the command calls it. */
function guideCatalogue(localUrl: string | undefined): unknown {
  const block = blocksOf(CATALOGUE_PAGE).find(({ language, file }) => language === 'json' && file === 'catalogue');
  const code = block?.code ?? 'null';
  return JSON.parse(localUrl === undefined ? code : code.replace(LOCAL_URL, localUrl));
}

/** A server that honours `max_tokens` only, as Ollama does. */
async function startLocal() {
  const upstream = await startScriptedUpstream();
  upstream.script(answerOf({ ...GOOD_SERVER, limits: ['max_tokens'] }));
  return { baseUrl: upstream.baseUrl, [Symbol.asyncDispose]: upstream.close };
}
