import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { PRICE_LIST } from './price-list.ts';
import { blocksOf } from './sdk-package.ts';
import { runToEnd } from './service-process.ts';

const OPERATOR_GUIDE = 'docs/guides/operator.md';
const COMMAND = /npm run purser -- (.+)/;

/**
 * The output of a `purser` command that a guide shows, on the catalogue of the operator's guide. The price list is a file, and
 * files that the command writes go to a folder of their own.
 */
export async function outputOfPurser(shell: string): Promise<string> {
  const words = COMMAND.exec(shell.replaceAll(/\\\n\s*/g, ''))?.[1]?.split(' ') ?? [];
  const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-guide-'));
  try {
    const list = path.join(folder, 'api.json');
    writeFileSync(list, JSON.stringify(PRICE_LIST));
    const here = words.map((word) => word.replace(/^\/etc\/purser(?=\/)/, folder));
    const options = { dataDirectory: folder, catalogue: guideCatalogue() };
    const { said } = await runToEnd(options, ...here, ...(words.includes('prices') ? ['--list', list] : []));
    return said.replaceAll(folder, '/etc/purser').replace('/etc/purser/api.json', 'https://models.dev/api.json');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function guideCatalogue(): unknown {
  const block = blocksOf(OPERATOR_GUIDE).find(({ language, file }) => language === 'json' && file === 'catalogue');
  return JSON.parse(block?.code ?? 'null');
}
