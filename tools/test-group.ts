// Runs several short test files in one process, one after the other. Loading the service costs more than most of them do.
// Started by test-run.ts with the files as arguments.
import { resolve } from 'node:path';
import { after, suite } from 'node:test';
import { pathToFileURL } from 'node:url';

const [timeoutMs, ...files] = process.argv.slice(2);
for (const file of files) await runFile(file);

/** A file becomes a suite, so that its hooks are its own. The next file is loaded when this one has ended. */
function runFile(file: string): Promise<void> {
  return new Promise((ended) => {
    void suite(file, { timeout: Number(timeoutMs) }, async () => {
      try {
        await import(pathToFileURL(resolve(file)).href);
      } finally {
        after(() => ended());
      }
    });
  });
}
