import path from 'node:path';
import { PYTHON_SERVERS, pythonOf } from '../../support/installed.ts';
import { freePort, type Program, run, startProgram } from './programs.ts';

/** Why it is not run; undefined if it is. */
export const NO_LLAMA: string | undefined =
  PYTHON_SERVERS.missing().length > 0 ? '`npm run proofs -- agents` installs llama.cpp' : undefined;

const at = (name: string): string => path.join(import.meta.dirname, name);

/** Starts llama.cpp's own server with a model that was taught to call a tool, and to say a text once the result is there. */
export function startTaughtLlama(
  directory: string,
  { tool, given, text }: { readonly tool: string; readonly given: object; readonly text: string },
): Promise<Program> {
  const python = pythonOf(PYTHON_SERVERS);
  const file = path.join(directory, 'taught.gguf');
  const call = JSON.stringify({ name: tool, arguments: given });
  run(python, [at('taught_gguf.py'), file, call, text], directory);
  return freePort().then((port) => {
    const words = [at('llama_server.py'), file, String(port), 'long'];
    return startProgram({ command: python, words, port, readyPath: '/health', directory, name: `llama-${port}` });
  });
}
