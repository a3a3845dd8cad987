import path from 'node:path';
import { freePort, type Program, startProgram } from './programs.ts';

/** The programs that an operator of this test must have. Each is named by a setting. */
const LLAMA_SERVER = process.env['PURSER_TEST_LLAMA_SERVER'];
const PYTHON = process.env['PURSER_TEST_TRANSFORMERS_PYTHON'];

/** The tiny model, in both of its forms. */
export interface TinyModel {
  readonly folder: string;
  readonly file: string;
}

interface ServerStart {
  readonly model: TinyModel;
  readonly directory: string;
}

export interface ModelServer {
  readonly name: string;
  /** What to do so that it runs; undefined if it can run. */
  readonly missing: string | undefined;
  readonly start: (start: ServerStart) => Promise<Program>;
  /** The name by which it knows the model. */
  readonly modelName: (model: TinyModel) => string;
  readonly outputLimitParameter: 'max_tokens' | 'max_completion_tokens';
}

/** The interpreter that makes the tiny model; undefined if none was named. */
export const MODEL_PYTHON = PYTHON;

export const SERVERS: readonly ModelServer[] = [
  {
    name: 'llama.cpp',
    missing: LLAMA_SERVER === undefined ? 'PURSER_TEST_LLAMA_SERVER must name its program `llama-server`' : undefined,
    start: async ({ model, directory }) => {
      const port = await freePort();
      const words = [
        '-m',
        model.file,
        '--host',
        '127.0.0.1',
        '--port',
        String(port),
        '-c',
        '2048',
        '-t',
        '1',
        '-np',
        '2',
      ];
      const name = `llama-${port}`;
      return startProgram({ command: LLAMA_SERVER ?? '', words, port, readyPath: '/health', directory, name });
    },
    modelName: () => 'tiny',
    outputLimitParameter: 'max_tokens',
  },
  {
    name: 'transformers serve',
    missing:
      PYTHON === undefined
        ? 'PURSER_TEST_TRANSFORMERS_PYTHON must name a Python that has `transformers[serving]`, `torch` and `gguf`'
        : undefined,
    start: async ({ directory }) => {
      const port = await freePort();
      const command = path.join(path.dirname(PYTHON ?? ''), 'transformers');
      const words = ['serve', '--host', '127.0.0.1', '--port', String(port), '--device', 'cpu'];
      const environment = { HF_HUB_OFFLINE: '1', TRANSFORMERS_OFFLINE: '1' };
      const name = `transformers-${port}`;
      return startProgram({ command, words, port, readyPath: '/health', environment, directory, name });
    },
    modelName: ({ folder }) => folder,
    outputLimitParameter: 'max_completion_tokens',
  },
];
