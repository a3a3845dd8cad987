import assert from 'node:assert/strict';
import { createLog, type Log } from '../../packages/service/src/kernel/log.ts';
import { readMetrics } from '../../packages/service/src/kernel/metrics.ts';

/** The output of a service under test to its operator, kept so that every test file can search it for forbidden content. */
export interface Overheard {
  readonly log: Log;
  /** What the log says of one call, one object for each line. */
  readonly linesOf: (correlationId: string) => readonly Readonly<Record<string, unknown>>[];
  readonly linesOfCall: (callId: string) => readonly Readonly<Record<string, unknown>>[];
  /** Fails if the log or the metrics contain one of these secrets, or a word of the tests' prompts and answers. */
  readonly assertDiscreet: (secrets: readonly string[]) => void;
}

/** The usual prompt and answer of the tests, and the accounts' password. No text of the service itself contains any of them. */
const WORDS = ['Hello', 'First piece', 'Hi.', 'correct horse battery'];
const CHARACTERS_MAX = 50_000_000;

export function overhear(): Overheard {
  const lines: string[] = [];
  let characters = 0;
  const write = (line: string): void => {
    characters += line.length;
    if (characters <= CHARACTERS_MAX) lines.push(line);
  };
  const linesWith = (part: string) =>
    lines.filter((line) => line.includes(part)).map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  return {
    log: createLog('debug', { write }),
    linesOf: (correlationId) => linesWith(`"correlationId":"${correlationId}"`),
    linesOfCall: (callId) => linesWith(`"callId":"${callId}"`),
    assertDiscreet: (secrets) => {
      const said = [...lines, JSON.stringify(readMetrics())];
      for (const secret of [...WORDS, ...secrets.filter((one) => one !== '')]) {
        const line = said.find((one) => one.includes(secret));
        assert.equal(line, undefined, `ER-03 a log line or the metrics hold \`${secret}\``);
      }
    },
  };
}
