import assert from 'node:assert/strict';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { readMetrics } from '../../packages/service/src/kernel/metrics/metrics.ts';

/** The output of a service under test to its operator, kept so that every test file can search it for forbidden content. */
export type Overheard = ReturnType<typeof overhear>;

/** The usual prompt and answer of the tests, and the accounts' password. No text of the service itself contains any of them. */
const WORDS = ['Hello', 'First piece', 'Hi.', 'correct horse battery'];
const CHARACTERS_MAX = 50_000_000;

export function overhear() {
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
    /** What the log says of one call, one object for each line. */
    linesOf: (correlationId: string) => linesWith(`"correlationId":"${correlationId}"`),
    linesOfCall: (callId: string) => linesWith(`"callId":"${callId}"`),
    /** Fails if the log or the metrics contain one of these secrets, or a word of the tests' prompts and answers. */
    assertDiscreet: (secrets: readonly string[]) => {
      const said = [...lines, JSON.stringify(readMetrics())];
      for (const secret of [...WORDS, ...secrets.filter((one) => one !== '')]) {
        const line = said.find((one) => one.includes(secret));
        assert.equal(line, undefined, `ER-03 a log line or the metrics hold \`${secret}\``);
      }
    },
  };
}
