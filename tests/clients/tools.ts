import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PYTHON, QUIET } from './python.ts';

/** A tool that is not a library of the format: it makes calls of its own accord, and shows people what became of them. */
export interface Tool {
  readonly name: string;
  /** The package whose version counts. */
  readonly package: string;
  readonly seenWith: string;
  /** The file whose lines between the settings marks appear in `docs/CLIENTS.md`. */
  readonly settings: URL;
  readonly script: URL;
  /** What of a 402 its user sees, as the test finds it. */
  readonly shows: RegExp;
  /** The same in words, and how it retries. */
  readonly notes: string;
}

const at = (file: string): URL => new URL(`tools/${file}`, import.meta.url);

export const TOOLS: readonly Tool[] = [
  {
    name: 'DSPy',
    package: 'dspy',
    seenWith: '3.4.1',
    settings: at('dspy_tool.py'),
    script: at('dspy_tool.py'),
    shows: /LMBillingError.*does not cover the call/,
    notes:
      'A 402 is an `LMBillingError` with our message, without the link. DSPy makes four requests for a call that gets a 429 or a 502. After a timeout it calls again without marking the retry. In a test, that cost four charges and gave no answer. With a key that joins, it cost one charge and gave the answer.',
  },
  {
    name: 'llm',
    package: 'llm',
    seenWith: '0.32.1',
    settings: at('llm.yaml'),
    script: at('llm_tool.py'),
    shows: /402.*does not cover the call.*topupUrl/,
    notes:
      'A 402 is shown in full, with the link. In a trial, it made three requests for a call that got a 429, and one for a 502. It requests streams, unless `--no-stream` is given.',
  },
  {
    name: 'Strands Agents',
    package: 'strands-agents',
    seenWith: '1.62.0',
    settings: at('strands_tool.py'),
    script: at('strands_tool.py'),
    shows: /402.*does not cover the call.*topupUrl/,
    notes:
      'A 402 is an `APIStatusError` with our whole body, link included. On a 429 it backs off by its own schedule: a trial saw four tries in a minute.',
  },
];

interface Order {
  readonly baseUrl: string;
  readonly key: string;
  readonly user: string;
  readonly timeoutSeconds?: number;
}

const run = promisify(execFile);

/** Has a tool ask once, in a process of its own. */
export async function askWith({ script }: Tool, order: Order): Promise<{ text: string; failure: string | null }> {
  const { stdout } = await run(PYTHON, ['-B', fileURLToPath(script), JSON.stringify(order)], {
    env: { ...process.env, ...QUIET },
    timeout: 60_000,
  });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { text: string; failure: string | null };
}
