import assert from 'node:assert/strict';
import { createLog, type Log } from '../../packages/service/src/kernel/log.ts';
import { readMetrics } from '../../packages/service/src/kernel/metrics.ts';

/** What a service under test says to its operator, kept so that every test file can look for what must not be in it. */
export interface Overheard {
  readonly log: Log;
  /** Fails where the log or the metrics hold one of these secrets, or a word of what the tests ask and are answered. */
  readonly assertDiscreet: (secrets: readonly string[]) => void;
}

/** What most tests ask, what providers answer most of them, and the accounts' password. Nothing of the service's own says any. */
const WORDS = ['Hello', 'First piece', 'Hi.', 'correct horse battery'];
const CHARACTERS_MAX = 50_000_000;

export function overhear(): Overheard {
  const lines: string[] = [];
  let characters = 0;
  const write = (line: string): void => {
    characters += line.length;
    if (characters <= CHARACTERS_MAX) lines.push(line);
  };
  return {
    log: createLog('debug', { write }),
    assertDiscreet: (secrets) => {
      const said = [...lines, JSON.stringify(readMetrics())];
      for (const secret of [...WORDS, ...secrets.filter((one) => one !== '')]) {
        const line = said.find((one) => one.includes(secret));
        assert.equal(line, undefined, `ER-03 a log line or the metrics hold \`${secret}\``);
      }
    },
  };
}
