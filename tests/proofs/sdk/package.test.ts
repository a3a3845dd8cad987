import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import vm from 'node:vm';
import { gzipSync } from 'node:zlib';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { ROOT, runNode } from '../../../tools/toolchain.ts';
import { newProject, packSdk } from '../../support/sdk-package.ts';

/** What an app installs, in a project of its own. */

const COMPRESSED_BYTES_MAX = 7_000;

const tarball = await packSdk();
const project = await newProject(tarball);

function installed(...parts: string[]): string {
  return path.join(project.folder, 'node_modules', '@purser', 'sdk', ...parts);
}

test('SDK-02 the package contains only what is published', () => {
  const files = globSync('**', { cwd: installed(), withFileTypes: true }).filter((entry) => entry.isFile());
  const names = files.map((entry) => path.relative(installed(), path.join(entry.parentPath, entry.name)));
  const sources = globSync('*.ts', { cwd: path.join(ROOT, 'packages/sdk/src') }).filter(
    (name) => !name.includes('.test.'),
  );
  const built = ['esm', 'cjs'].flatMap((kind) =>
    sources.flatMap((name) => ['js', 'd.ts'].map((end) => path.join('dist', kind, name.replace(/ts$/, end)))),
  );
  const wanted = [...built, path.join('dist', 'cjs', 'package.json'), 'package.json', 'README.md', 'LICENSE'];
  assert.deepEqual(names.toSorted(), wanted.toSorted());
  const { dependencies, peerDependencies, optionalDependencies } = JSON.parse(
    readFileSync(installed('package.json'), 'utf8'),
  ) as Record<string, unknown>;
  assert.deepEqual([dependencies, peerDependencies, optionalDependencies], [undefined, undefined, undefined]);
  assert.deepEqual(globSync('*', { cwd: path.join(project.folder, 'node_modules') }), ['@purser']);
  for (const name of names.filter((name) => /\.(js|d\.ts)$/.test(name))) {
    assert.doesNotMatch(
      readFileSync(installed(name), 'utf8'),
      /zod|from '(?!\.)|\.ts'|require\("(?!\.)|node:|\bprocess\.|\bBuffer\b/,
    );
  }
});

test('SDK-02 its code is under 7 KB compressed', () => {
  for (const kind of ['esm', 'cjs']) {
    const files = globSync('*.js', { cwd: installed('dist', kind) }).toSorted();
    const bytes = gzipSync(files.map((file) => readFileSync(installed('dist', kind, file), 'utf8')).join('')).length;
    assert.ok(files.length > 5 && bytes < COMPRESSED_BYTES_MAX, `${kind}: ${bytes} bytes`);
  }
});

const USE = `
const purser = new Purser({ baseURL: 'https://purser.test', apiKey: 'k', fetch: async () => new Response('{}', { status: 402 }) });
const tell = async () => {
  const error = await purser.balance('anna').catch((raised) => raised);
  const event = { id: 'evt_1', type: 'connection.created', createdAt: '', appId: '', data: {} };
  const { body, headers } = await signTestPayload(event, { secret: 's' });
  const { id } = await verifyWebhook({ body, signature: headers['x-service-signature'], secret: 's' });
  console.log(error.name, isPurserError(error), error instanceof PaymentRequiredError, id);
};
tell();`;
const NAMES = '{ isPurserError, PaymentRequiredError, Purser, signTestPayload, verifyWebhook }';
const TOLD = 'PaymentRequiredError true true evt_1';

for (const { name, by } of runtimes()) {
  test(`SDK-02 it runs on ${name} in both module formats`, async () => {
    project.write('use.mjs', `import ${NAMES} from '@purser/sdk';${USE}`);
    project.write('use.cjs', `const ${NAMES} = require('@purser/sdk');${USE}`);
    for (const file of ['use.mjs', 'use.cjs']) assert.equal(await project.run(file, { by }), TOLD);
  });
}

test('SDK-01 one copy recognises another copy’s error', async () => {
  project.write(
    'copies.mjs',
    `import { createRequire } from 'node:module';
    import * as one from '@purser/sdk';
    const other = createRequire(import.meta.url)('@purser/sdk');
    const error = new other.PaymentRequiredError({ code: 'PAYMENT_REQUIRED', message: '', correlationId: '' });
    const same = await one.guard(() => { throw error; }).catch((raised) => raised);
    console.log(error instanceof one.PaymentRequiredError, one.isPurserError(error), same === error,
      one.isPurserError(error, 'PaymentRequiredError'), one.isPurserError(error, 'ServiceApiError'), one.isPurserError(new Error()));`,
  );
  assert.equal(await project.run('copies.mjs'), 'false true true true false false');
});

test('SDK-02 it runs without `process` and `Buffer`', async () => {
  const web = {
    fetch,
    Headers,
    Request,
    Response,
    URL,
    AbortController,
    AbortSignal,
    TextEncoder,
    TextDecoder,
    crypto,
  };
  const told: string[] = [];
  const console = { log: (...words: unknown[]) => void told.push(words.join(' ')) };
  const context = vm.createContext({ ...web, setTimeout, clearTimeout, console });
  const modules = new Map<string, { exports: object }>();
  const load = (file: string): object => {
    const known = modules.get(file);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    modules.set(file, module);
    const code = `(function (module, exports, require) {${readFileSync(file, 'utf8')}\n})`;
    const require = (name: string): object => load(path.join(path.dirname(file), name));
    (vm.runInContext(code, context, { filename: file }) as (...given: unknown[]) => void)(
      module,
      module.exports,
      require,
    );
    return module.exports;
  };
  assert.equal(vm.runInContext('typeof process + typeof Buffer + typeof require', context), 'undefined'.repeat(3));
  const main = `(async function (${NAMES}) {${USE.replace('tell();', 'await tell();')}})`;
  await (vm.runInContext(main, context) as (sdk: object) => Promise<void>)(load(installed('dist', 'cjs', 'sdk.js')));
  assert.deepEqual(told, [TOLD]);
});

const TYPED = `
import { asPaymentRequired, guard, isPurserError, PaymentRequiredError, Purser, verifyWebhook, type WebhookEvent } from '@purser/sdk';
const purser = new Purser({ baseURL: 'https://purser.test', apiKey: 'k' });
export async function use(): Promise<number> {
  const { availableMicros } = await purser.balance('anna');
  const link: { connectUrl: string } = await purser.connect('anna', { redirectUri: 'https://app.test/', state: undefined });
  const text: string = await guard(() => Promise.resolve(link.connectUrl));
  // @ts-expect-error: whose balance?
  await purser.balance();
  // @ts-expect-error: no such field.
  (await purser.usageSummary('anna')).month;
  return availableMicros + text.length;
}
export function tell(error: unknown): string {
  if (isPurserError(error, 'ServiceApiError')) return error.code;
  if (isPurserError(error)) {
    if (error.name === 'WebhookVerificationError') return error.reason;
    // @ts-expect-error: not on every 402.
    const link: string = error.topupUrl;
    return link;
  }
  return error instanceof PaymentRequiredError ? error.code : (asPaymentRequired(error)?.correlationId ?? '');
}
export function amount(event: WebhookEvent): number {
  switch (event.type) {
    case 'balance.low': return event.data.thresholdMicros;
    case 'topup.completed': return event.data.balanceMicros;
    case 'connection.created': return event.data.connectedAt.length;
  }
}
export const verified: Promise<WebhookEvent> = verifyWebhook({ body: '', signature: null, secret: '' });
`;
const ON_THE_WEB = `
import { Purser } from '@purser/sdk';
const purser = new Purser({ baseURL: 'https://purser.test', apiKey: 'k', fetch: globalThis.fetch });
export const user = purser.forUser('anna');
export const own: typeof globalThis.fetch = user.fetch;
export const answer: Promise<number> = user.withTopUp(async () => 1, {
  onTopUp: ({ topupUrl }) => topupUrl.length,
  until: async (_error, signal) => signal.throwIfAborted(),
  signal: new AbortController().signal,
});
`;

// `node16` resolves as `nodenext` does; arethetypeswrong looks at both.
for (const [what, type, module, moduleResolution] of [
  ['ES modules by nodenext', 'module', 'nodenext', 'nodenext'],
  ['CommonJS by nodenext', 'commonjs', 'nodenext', 'nodenext'],
  ['a bundler', 'module', 'esnext', 'bundler'],
] as const) {
  test(`SDK-02 its types are sound in a strict project of ${what}`, async () => {
    const { folder, write } = await newProject(tarball, { type });
    const common = { module, moduleResolution, target: 'es2022', noEmit: true, strict: true, skipLibCheck: false };
    const strict = { exactOptionalPropertyTypes: true, verbatimModuleSyntax: type === 'module', types: [] };
    for (const [name, files, lib] of [
      ['plain', { 'main.ts': TYPED }, ['es2022']],
      ['web', { 'main.ts': TYPED, 'more.ts': ON_THE_WEB }, ['es2022', 'dom']],
    ] as const) {
      for (const [file, text] of Object.entries(files)) write(`${name}/${file}`, text);
      const config = { compilerOptions: { ...common, ...strict, lib }, include: Object.keys(files) };
      write(`${name}/tsconfig.json`, JSON.stringify(config));
      const tsc = path.join(ROOT, 'node_modules', '.bin', 'tsc');
      const { code, output } = await runNode({ args: [tsc, '-p', name], cwd: folder, timeoutMs: 60_000 });
      assert.equal(code, 0, `${name}: ${output}`);
    }
  });
}

test('SDK-02 publint has nothing to suggest', async () => {
  const packed = readFileSync(tarball);
  const bytes = packed.buffer.slice(packed.byteOffset, packed.byteOffset + packed.byteLength);
  const { messages } = await publint({ pack: { tarball: bytes }, strict: true });
  assert.deepEqual(messages, []);
});

test('SDK-02 arethetypeswrong finds the same types in every format', async () => {
  const result = await checkPackage(createPackageFromTarballData(readFileSync(tarball)));
  assert.ok(result.types !== false);
  assert.deepEqual(result.problems, []);
});

/** This Node, and the other runtimes installed on the machine. */
function runtimes(): readonly { readonly name: string; readonly by: readonly string[] }[] {
  const deno = ['run', '--no-prompt', '--allow-read', '--cached-only', '--node-modules-dir=manual'];
  const found = new Map([[`Node ${process.versions.node}`, [process.execPath]]]);
  for (const folder of (process.env['PATH'] ?? '').split(path.delimiter)) {
    for (const [name, program, args] of [
      ['Node', 'node', []],
      ['Bun', 'bun', []],
      ['Deno', 'deno', deno],
    ] as const) {
      const file = path.join(folder, program);
      if (!existsSync(file)) continue;
      const [version = ''] = /\d+\.[\d.]+/.exec(execFileSync(file, ['--version'], { encoding: 'utf8' })) ?? [];
      if (name !== 'Node' || Number.parseInt(version, 10) >= 20) found.set(`${name} ${version}`, [file, ...args]);
    }
  }
  return [...found].map(([name, by]) => ({ name, by }));
}
