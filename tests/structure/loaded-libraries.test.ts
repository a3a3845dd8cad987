import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { test } from 'node:test';
import { parseSync } from 'oxc-parser';
import { ROOT } from '../../tools/toolchain.ts';

const SOURCE = 'packages/service/src/';
/** The command, and what it imports when it starts a gateway. */
const STARTS = ['cli/main.ts', 'cli/run-command.ts', 'app/serve.ts', 'app/compose.ts'].map((file) => SOURCE + file);
/** Each takes 5 to 17 MB of every process that loads it. They are imported when they are first needed. */
const RARE = [
  '@ai-sdk/amazon-bedrock',
  '@ai-sdk/anthropic',
  '@ai-sdk/google',
  '@aws-sdk/credential-providers',
  '@pydantic/genai-prices',
  '@smithy/eventstream-codec',
  'aws4fetch',
  'fastify',
  'google-auth-library',
  'marked',
  'node:http', // Its types are free, and `kernel/node-http.ts` has its functions.
  'nodemailer',
  'openid-client',
  'qr',
  'stripe',
  'undici',
];
const TELEMETRY = `${SOURCE}telemetry/`;
/** What takes no calls. A process loads it when somebody first asks for a page or a route of owners. */
const OTHERS = [
  'http/planes',
  'http/control-plane',
  'http/operator-plane',
  'http/openapi',
  'http/reference',
  'reconciliation',
  'privacy',
];
/** All of `web` but this: mails and lines of the log show amounts too. */
const FORMATS = `${SOURCE}web/format/`;

/** What a file imports when it is loaded: neither types nor what it imports later. */
function importsOf(path: string): readonly string[] {
  const { staticImports, staticExports } = parseSync(path, readFileSync(join(ROOT, path), 'utf8')).module;
  const imported = staticImports.filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType));
  const handedOn = staticExports.flatMap(({ entries }) => entries.filter(({ isType }) => !isType));
  return [...imported, ...handedOn].flatMap(({ moduleRequest }) => moduleRequest?.value ?? []);
}

/** The file of ours that a specifier means, if it means one. */
function fileOf(from: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(from), specifier);
  if (specifier.startsWith('#')) return SOURCE + specifier.slice(1);
  const file = specifier.replace(/^@purser\/([^/]+)\//, 'packages/$1/src/');
  return file === specifier ? undefined : file;
}

test('a gateway process loads no rare libraries, telemetry, planes or pages at its start', () => {
  const loaded = new Set([...STARTS, 'packages/simulator/src/main.ts']);
  const libraries = new Set<string>();
  for (const path of loaded) {
    for (const specifier of importsOf(path)) {
      const file = fileOf(path, specifier);
      if (file === undefined) libraries.add(specifier);
      else loaded.add(file);
    }
  }
  assert.ok(libraries.has('pg') && loaded.size > 300, `${loaded.size} files were followed`);
  assert.deepEqual(
    RARE.filter((name) => [...libraries].some((specifier) => `${specifier}/`.startsWith(`${name}/`))),
    [],
  );
  const later = [TELEMETRY, `${SOURCE}web/`, ...OTHERS.map((folder) => `${SOURCE}${folder}/`)];
  assert.deepEqual(
    [...loaded].filter((file) => !file.startsWith(FORMATS) && later.some((folder) => file.startsWith(folder))),
    [],
  );
  assert.ok(existsSync(join(ROOT, TELEMETRY, 'call-export.ts')));
});
