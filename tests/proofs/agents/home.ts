import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AGENTS } from '../../support/installed.ts';
import { CANNOT_BE_ALONE } from './alone.ts';

/** Why agents are not run; undefined if they are. */
export const NOT_RUN: string | undefined =
  AGENTS.missing().length > 0 ? '`npm run proofs -- agents` installs them' : CANNOT_BE_ALONE;

/** A home and a folder to work in, for one person's agent. */
export interface Home {
  readonly directory: string;
  readonly work: string;
  readonly remove: () => void;
}

/** Makes them, with files by their paths in the home. */
export function createHome(files: Readonly<Record<string, string>>): Home {
  const directory = mkdtempSync(path.join(tmpdir(), 'purser-agent-'));
  const work = path.join(directory, 'work');
  mkdirSync(work);
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(directory, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return { directory, work, remove: () => rmSync(directory, { recursive: true, force: true }) };
}
