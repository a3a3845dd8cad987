import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readProject } from '../../tools/structure/project.ts';
import { readTree } from '../../tools/structure/read-tree.ts';
import { RULES } from '../../tools/structure/rules.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SOURCE = 'packages/service/src/';
/** The command, and what it imports when it starts a gateway. */
const STARTS = ['cli/main.ts', 'app/serve.ts', 'app/compose.ts'].map((file) => SOURCE + file);
/** Each takes 5 to 17 MB of every process that loads it. They are imported when they are first needed. */
const RARE = [
  '@ai-sdk/amazon-bedrock',
  '@ai-sdk/anthropic',
  '@ai-sdk/google',
  '@aws-sdk/credential-providers',
  '@pydantic/genai-prices',
  'google-auth-library',
  'marked',
  'nodemailer',
  'openid-client',
  'stripe',
  'undici',
];
const DYNAMIC = /\bimport\('([^']+)'\)/g;

const TELEMETRY = `${SOURCE}telemetry/`;

test('a gateway process loads no library that it may never need', () => {
  const { files } = readProject(readTree(ROOT), RULES);
  const loaded = new Set(STARTS);
  const libraries = new Set<string | undefined>();
  for (const path of loaded) {
    const later = new Set(Array.from(readFileSync(join(ROOT, path), 'utf8').matchAll(DYNAMIC), ([, name]) => name));
    for (const { isTypeOnly, specifier, target, module } of files.get(path)?.imports ?? []) {
      if (isTypeOnly || later.has(specifier)) continue;
      libraries.add(module);
      if (target !== undefined && files.has(target)) loaded.add(target);
    }
  }
  assert.ok(libraries.has('pg') && loaded.size > 300, `${loaded.size} files were followed`);
  assert.deepEqual(
    RARE.filter((name) => libraries.has(name)),
    [],
  );
  assert.deepEqual(
    [...loaded].filter((file) => file.startsWith(TELEMETRY)),
    [],
  );
  assert.ok(files.has(`${TELEMETRY}call-export.ts`));
});
