import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, type TestContext } from 'node:test';
import type { JsonObject } from '../../packages/service/src/kernel/text/json.ts';
import { runHere } from './commands.ts';
import { startScriptedUpstream } from './scripted-upstream.ts';

/** The entry that is probed. */
export const PROBED_MODEL = {
  id: 'acme.small',
  provider: 'ours',
  providerModel: 'small',
  resale: 'open',
  price: { inputMicrosPerMillion: 1_000_000, outputMicrosPerMillion: 2_000_000 },
  contextTokens: 32_000,
  maxOutputTokens: 4_000,
};

/** An upstream for `purser catalogue probe`. This is called once by a test file, before its tests. */
export async function setProbing() {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-probe-'));
  const upstream = await startScriptedUpstream();
  after(async () => {
    await upstream.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const ours = { kind: 'openai-compatible', baseUrl: upstream.baseUrl, apiKeyEnv: 'OURS_API_KEY' };

  return {
    folder,
    upstream,
    ours,
    /** Probes the entry with changes. */
    run: async (t: TestContext, words: readonly string[], changes: JsonObject = {}, provider = ours) => {
      const file = path.join(folder, 'catalogue.json');
      const models = [{ ...PROBED_MODEL, ...changes }];
      writeFileSync(file, JSON.stringify({ providers: { ours: provider }, models }));
      return probeBy(t, file, PROBED_MODEL.id, ...words);
    },
  };
}

/** Runs `purser catalogue probe` on a catalogue file. */
export async function probeBy(t: TestContext, catalogueFile: string, ...words: readonly string[]) {
  const environment = { PURSER_CATALOGUE: catalogueFile, PURSER_CURRENCY: 'EUR', OURS_API_KEY: 'key-of-ours' };
  const { status, lines } = await runHere(t, ['catalogue', 'probe', ...words], { environment });
  return { status, said: lines.join('\n') };
}

/** The lines of a report, by what they are about. */
export function foundIn(said: string): Readonly<Record<string, string>> {
  const lines = [...said.matchAll(/^ {2}(\S.*?) {2,}(yes|no|unclear) +(.*)$/gm)];
  return Object.fromEntries(lines.map(([, what = '', is = '', words = '']) => [what, `${is}: ${words}`]));
}

/** An entry that the command proposes, counted from the last. */
export function proposedIn(said: string, index = -1): JsonObject {
  const [, text = ''] = said.split('Proposed, to be put into the catalogue file by you:\n');
  const entries = text.split(/(?<=^\})\n/m).filter((one) => one !== '');
  return JSON.parse(entries.at(index) ?? 'null') as JsonObject;
}
