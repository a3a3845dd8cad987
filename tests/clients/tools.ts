import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { NODE_CLIENTS } from '../support/installed.ts';
import { packageVersion, PYTHON, QUIET } from './python.ts';

/** A tool that is not a library of the format: it makes calls of its own accord, and shows people what became of them. */
export interface Tool {
  readonly name: string;
  readonly language: 'Python' | 'Node';
  /** The package whose version counts. */
  readonly package: string;
  readonly seenWith: string;
  /** The file whose lines between the settings marks appear in `docs/CLIENTS.md`. */
  readonly settings: URL;
  readonly script: URL;
  /** It gives a tool that is called before the answer, so it makes two calls. */
  readonly loops?: boolean;
  /** What of a 402 its user sees, as the test finds it. */
  readonly shows: RegExp;
  /** The same in words, and how it retries. */
  readonly notes: string;
}

/** What all clients of Responses and Messages show: the message, which holds the link. */
export const SHOWN = /does not cover the call.*\/topup\//s;
const LINK_IN_MESSAGE = 'The message of a 402 holds the link.';
const NEWEST = fileURLToPath(new URL('newest.ts', import.meta.url));

const at = (file: string): URL => new URL(`tools/${file}`, import.meta.url);

export const TOOLS: readonly Tool[] = [
  {
    name: 'DSPy',
    language: 'Python',
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
    language: 'Python',
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
    language: 'Python',
    package: 'strands-agents',
    seenWith: '1.62.0',
    settings: at('strands_tool.py'),
    script: at('strands_tool.py'),
    shows: /402.*does not cover the call.*topupUrl/,
    notes:
      'A 402 is an `APIStatusError` with our whole body, link included. On a 429 it backs off by its own schedule: a trial saw four tries in a minute.',
  },
  {
    name: 'OpenAI Agents for Python',
    language: 'Python',
    package: 'openai-agents',
    seenWith: '0.24.0',
    settings: at('openai_agents_tool.py'),
    script: at('openai_agents_tool.py'),
    loops: true,
    shows: SHOWN,
    notes: `It speaks the Responses wire. ${LINK_IN_MESSAGE}`,
  },
  {
    name: 'OpenAI Agents for JavaScript',
    language: 'Node',
    package: '@openai/agents',
    seenWith: '0.20.0',
    settings: at('openai-agents-tool.js'),
    script: at('openai-agents-tool.js'),
    loops: true,
    shows: SHOWN,
    notes: `It speaks the Responses wire. ${LINK_IN_MESSAGE}`,
  },
  {
    name: 'pydantic-ai',
    language: 'Python',
    package: 'pydantic-ai-slim',
    seenWith: '2.68.0',
    settings: at('pydantic_ai_tool.py'),
    script: at('pydantic_ai_tool.py'),
    loops: true,
    shows: SHOWN,
    notes: `\`openai:large\` is this model, with the settings from the environment. ${LINK_IN_MESSAGE}`,
  },
  {
    name: 'agno',
    language: 'Python',
    package: 'agno',
    seenWith: '3.1.10',
    settings: at('agno_tool.py'),
    script: at('agno_tool.py'),
    loops: true,
    shows: SHOWN,
    notes:
      'It raises nothing: the message of a 402, with the link, is the content of a run whose `status` is an error.',
  },
  {
    name: 'LangChain for Python',
    language: 'Python',
    package: 'langchain-openai',
    seenWith: '1.7.4',
    settings: at('langchain_tool.py'),
    script: at('langchain_tool.py'),
    loops: true,
    shows: SHOWN,
    notes: `By the name \`large\` it calls chat completions. ${LINK_IN_MESSAGE}`,
  },
  {
    name: 'ChatAnthropic of LangChain for JavaScript',
    language: 'Node',
    package: '@langchain/anthropic',
    seenWith: '1.5.11',
    settings: at('langchain-anthropic-tool.js'),
    script: at('langchain-anthropic-tool.js'),
    loops: true,
    shows: SHOWN,
    notes: LINK_IN_MESSAGE,
  },
  {
    name: 'ChatAnthropic of LangChain for Python',
    language: 'Python',
    package: 'langchain-anthropic',
    seenWith: '1.7.10',
    settings: at('langchain_anthropic_tool.py'),
    script: at('langchain_anthropic_tool.py'),
    loops: true,
    shows: SHOWN,
    notes: LINK_IN_MESSAGE,
  },
  {
    name: 'pydantic-ai with Anthropic’s model',
    language: 'Python',
    package: 'pydantic-ai-slim',
    seenWith: '2.68.0',
    settings: at('pydantic_ai_anthropic_tool.py'),
    script: at('pydantic_ai_anthropic_tool.py'),
    loops: true,
    shows: SHOWN,
    notes: LINK_IN_MESSAGE,
  },
];

/** The version that can be run; undefined if there is none. */
export function toolVersion({ language, package: name }: Tool): string | undefined {
  if (language === 'Python') return packageVersion(name);
  return NODE_CLIENTS.missing().length === 0 ? NODE_CLIENTS.versions[name] : undefined;
}

interface Order {
  readonly baseUrl: string;
  readonly key: string;
  readonly user: string;
}

const run = promisify(execFile);

/** Has a tool ask once, in a process of its own. */
export function askWith(
  tool: Tool,
  order: Order & { readonly timeoutSeconds?: number },
): Promise<{ text: string; failure: string | null }> {
  return runScript(tool, order);
}

/** Runs the script of a tool with an order, in a process of its own. Returns what its last line says. */
export async function runScript<Told>({ language, script }: Tool, order: Order): Promise<Told> {
  const [command, ...words] = language === 'Python' ? [PYTHON, '-B'] : [process.execPath, '--import', NEWEST];
  const { stdout } = await run(command, [...words, fileURLToPath(script), JSON.stringify(order)], {
    env: { ...process.env, ...QUIET },
    timeout: 60_000,
  });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Told;
}
