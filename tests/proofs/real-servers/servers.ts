import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { ensureInstalled, PYTHON_SERVERS, pythonOf } from '../../support/installed.ts';
import { freePort, type Program, run, startProgram } from './programs.ts';

/** A Python that has transformers and what they need: too much to install for a proof. */
const TRANSFORMERS_PYTHON = process.env['PURSER_TEST_TRANSFORMERS_PYTHON'];
const WHY_NO_SERVERS = ensureInstalled(PYTHON_SERVERS);

export interface ModelServer {
  readonly name: string;
  /** What to do so that it runs; undefined if it can run. */
  readonly missing: string | undefined;
  /** Starts it with files in a directory. */
  readonly start: (directory: string) => Promise<Program>;
  /** The name by which it knows the model. */
  readonly modelName: (directory: string) => string;
  /** What its entry in the catalogue says of it. */
  readonly provider:
    | { readonly kind: 'openai-compatible'; readonly apis: readonly ('chat' | 'responses')[] }
    | { readonly kind: 'anthropic' };
  readonly outputLimitParameter?: 'max_tokens' | 'max_completion_tokens';
  /** The lowest limit of output that it takes. */
  readonly limitMin: number;
  /** Whether it takes JSON schemas. By Messages, only models whose names tell that they are newer Claudes do. */
  readonly takesSchemas: boolean;
  /** It is asked for vectors, and for nothing else. */
  readonly makesVectors?: boolean;
}

const at = (name: string): string => path.join(import.meta.dirname, name);

async function startLlama(directory: string): Promise<Program> {
  const python = pythonOf(PYTHON_SERVERS);
  const file = path.join(directory, 'tiny.gguf');
  run(python, [at('tiny_gguf.py'), file], directory);
  const port = await freePort();
  const words = [at('llama_server.py'), file, String(port), 'vectors'];
  return startProgram({ command: python, words, port, readyPath: '/health', directory, name: `llama-${port}` });
}

/**
 * The proxy of LiteLLM in front of llama.cpp. `passed` and `passed-messages` go on in the words in which they came, `translated` as chat
 * completions.
 */
async function startLiteLlm(directory: string): Promise<Program> {
  const behind = await startLlama(directory);
  const port = await freePort();
  const name = `litellm-${port}`;
  const entryOf = (model: string, kind: string, version = '/v1') => {
    const base = `http://127.0.0.1:${behind.port}${version}`;
    return { model_name: model, litellm_params: { model: `${kind}/tiny`, api_base: base, api_key: 'none' } };
  };
  const settings = path.join(directory, `${name}.json`);
  const models = [
    entryOf('passed', 'openai'),
    entryOf('passed-messages', 'anthropic', ''),
    entryOf('translated', 'custom_openai'),
  ];
  writeFileSync(settings, JSON.stringify({ model_list: models }));
  const program = await startProgram({
    command: path.join(PYTHON_SERVERS.directory, 'bin', 'litellm'),
    words: ['--config', settings, '--host', '127.0.0.1', '--port', String(port), '--telemetry', 'False'],
    port,
    readyPath: '/health/liveliness',
    directory,
    name,
    environment: {
      LITELLM_MODE: 'PRODUCTION',
      LITELLM_LOG: 'ERROR',
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY: 'true', // It listens to this machine alone.
    },
  });
  return { port, stop: async () => void (await Promise.all([program.stop(), behind.stop()])) };
}

async function startTransformers(directory: string): Promise<Program> {
  const python = TRANSFORMERS_PYTHON ?? '';
  run(python, [at('tiny_model.py'), path.join(directory, 'tiny')], directory);
  const port = await freePort();
  const command = path.join(path.dirname(python), 'transformers');
  const words = ['serve', '--host', '127.0.0.1', '--port', String(port), '--device', 'cpu'];
  const environment = { HF_HUB_OFFLINE: '1', TRANSFORMERS_OFFLINE: '1' };
  const name = `transformers-${port}`;
  return startProgram({ command, words, port, readyPath: '/health', environment, directory, name });
}

const CHAT = {
  provider: { kind: 'openai-compatible', apis: ['chat'] },
  outputLimitParameter: 'max_tokens',
  takesSchemas: true,
} as const;
/** The lowest limit of Responses is that of its vendor. A lower one is refused by name. */
const RESPONSES = {
  provider: { kind: 'openai-compatible', apis: ['responses'] },
  outputLimitParameter: 'max_tokens',
  takesSchemas: true,
  limitMin: 16,
} as const;
const BOTH = { ...RESPONSES, provider: { ...RESPONSES.provider, apis: ['chat', 'responses'] } } as const;
const MESSAGES = { provider: { kind: 'anthropic' }, takesSchemas: false } as const;
const LLAMA = { missing: WHY_NO_SERVERS, start: startLlama, modelName: () => 'tiny', limitMin: 1 } as const;
const VECTORS = { ...CHAT, makesVectors: true } as const;
const LITELLM = { ...LLAMA, start: startLiteLlm, modelName: () => 'translated' } as const;

export const SERVERS: readonly ModelServer[] = [
  { ...LLAMA, ...CHAT, name: 'llama.cpp, chat completions' },
  { ...LLAMA, ...RESPONSES, name: 'llama.cpp, Responses' },
  { ...LLAMA, ...MESSAGES, name: 'llama.cpp, Messages' },
  { ...LLAMA, ...VECTORS, name: 'llama.cpp, embeddings' },
  { ...LITELLM, ...CHAT, name: 'LiteLLM, chat completions' },
  { ...LITELLM, ...RESPONSES, name: 'LiteLLM, Responses' },
  { ...LITELLM, ...RESPONSES, name: 'LiteLLM, Responses passed on', modelName: () => 'passed' },
  { ...LITELLM, ...BOTH, name: 'LiteLLM, both' },
  { ...LITELLM, ...MESSAGES, name: 'LiteLLM, Messages' },
  { ...LITELLM, ...MESSAGES, name: 'LiteLLM, Messages passed on', modelName: () => 'passed-messages' },
  { ...LITELLM, ...VECTORS, name: 'LiteLLM, embeddings', modelName: () => 'passed' },
  {
    name: 'transformers serve',
    missing:
      TRANSFORMERS_PYTHON === undefined
        ? 'PURSER_TEST_TRANSFORMERS_PYTHON must name a Python that has `transformers[serving]` and `torch`'
        : undefined,
    start: startTransformers,
    modelName: (directory) => path.join(directory, 'tiny'),
    ...CHAT,
    outputLimitParameter: 'max_completion_tokens',
    limitMin: 1,
  },
];
