import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ALWAYS_USAGE } from './differences.ts';
import { messagesRequest } from './messages-request.ts';
import { responsesRequest } from './responses-request.ts';
import type { Ask, Difference, RunningClient, StockClient, Told } from './stock-client.ts';
import { wireRequest } from './wire-request.ts';

/** The interpreter whose packages are used. */
export const PYTHON = process.env['PURSER_TEST_PYTHON'] ?? 'python3';

/** How to make the Python clients run if they do not. */
export const HOW_TO_GET_PYTHON =
  'not run: `pip install openai anthropic litellm mcp` gets them, and PURSER_TEST_PYTHON may name the interpreter that has them';

interface PythonClient extends Pick<StockClient, 'name' | 'packages' | 'differs'> {
  readonly seenWith: readonly string[];
  readonly script: string;
  readonly bodyOf: BodyOf;
}

/** A call in the words of the wire that the client speaks. */
type BodyOf = (ask: Pick<Ask, 'messages' | 'tools' | 'schema'>) => object;

function pythonClient({ script: name, bodyOf, ...client }: PythonClient): StockClient {
  const script = new URL(`python/${name}`, import.meta.url);
  return { ...client, settings: script, isSerial: true, start: () => startWorker(fileURLToPath(script), bodyOf) };
}

const UNTOLD =
  'its errors have no body, so our code cannot be read; `error.litellm_response_headers` contains the link. `guard` of [the Python package](../packages/purser-python/README.md) finds both';
const NO_CODE: Difference = { seen: 'no code', why: 'its errors have no body, so our code cannot be read' };

/** The clients that run if Python has them installed. */
export const PYTHON_CLIENTS: readonly StockClient[] = [
  pythonClient({
    name: 'openai (Python)',
    packages: ['openai'],
    seenWith: ['2.54.0', '3.57.0'],
    script: 'openai_client.py',
    bodyOf: wireRequest,
    differs: {},
  }),
  pythonClient({
    name: 'openai (Python), `responses`',
    packages: ['openai'],
    seenWith: ['3.57.0'],
    script: 'openai_responses_client.py',
    bodyOf: responsesRequest,
    differs: ALWAYS_USAGE,
  }),
  pythonClient({
    name: 'anthropic (Python)',
    packages: ['anthropic'],
    seenWith: ['2.14.0'],
    script: 'anthropic_client.py',
    bodyOf: messagesRequest,
    differs: ALWAYS_USAGE,
  }),
  pythonClient({
    name: 'litellm (Python)',
    packages: ['litellm'],
    seenWith: ['1.110.2'],
    script: 'litellm_client.py',
    bodyOf: wireRequest,
    differs: {
      '402': { seen: 'link in the headers, no code', why: UNTOLD },
      '402, streamed': { seen: 'link in the headers, no code', why: UNTOLD },
      '502, rejected by the provider': NO_CODE,
      '502, provider down': NO_CODE,
      'stream breaks off': NO_CODE,
      'stream ends without a reason': NO_CODE,
    },
  }),
];

/** The installed version; undefined if the interpreter or the package is missing. */
export function pythonVersion({ packages: [name = ''] }: StockClient): string | undefined {
  return packageVersion(name);
}

export function packageVersion(name: string): string | undefined {
  const asks = `from importlib.metadata import version; print(version(${JSON.stringify(name)}))`;
  const { status, stdout } = spawnSync(PYTHON, ['-c', asks], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

// Nothing leaves this machine: no proxy for the loopback address, and LiteLLM fetches no price list when it loads.
export const QUIET = { NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1', LITELLM_LOCAL_MODEL_COST_MAP: 'True' };

/** A process that prints one line when it is ready, and then answers each call with a line, in order. */
async function startWorker(script: string, bodyOf: BodyOf): Promise<RunningClient> {
  const child = spawn(PYTHON, ['-B', script], {
    env: { ...process.env, ...QUIET },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ready = Promise.withResolvers<Told>();
  const waiting = [ready];
  let complaint = '';
  child.stderr.on('data', (part: Buffer) => void (complaint = (complaint + part.toString('utf8')).slice(-2_000)));
  child.stdin.on('error', () => {}); // It has ended: reported below.
  createInterface({ input: child.stdout }).on('line', (line) => waiting.shift()?.resolve(JSON.parse(line) as Told));
  child.once('exit', () => {
    for (const { reject } of waiting) reject(new Error(`The client has ended: ${complaint}`));
  });
  await ready.promise;
  return {
    ask: (address, { stream, usage, leaves = false, ...ask }) => {
      const told = Promise.withResolvers<Told>();
      waiting.push(told);
      child.stdin.write(`${JSON.stringify({ ...address, stream, usage, leaves, body: bodyOf(ask) })}\n`);
      return told.promise;
    },
    close: () => end(child),
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.stdin?.end();
  await once(child, 'exit');
}
