import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { catalogueSchema } from '../../packages/contract/src/catalogue.ts';
import { providerKeysSchema } from '../../packages/contract/src/provider-keys.ts';
import { readConfig } from '../../packages/service/src/app/settings/config.ts';
import { PLACEHOLDERS } from '../../packages/service/src/app/environment/refused-variables.ts';
import { readSettings } from '../../packages/service/src/app/environment/settings-reader.ts';
import { readTelemetry } from '../../packages/service/src/app/settings/telemetry.ts';
import { commandNames } from '../../packages/service/src/cli/run-command.ts';
import { ROOT } from '../../tools/toolchain.ts';
import { outputOfPurser } from './guide-commands.ts';
import { findPython, PYTHON_PACKAGE, reasonToSkip, runPython } from './python-package.ts';
import { type Block, blocksOf, type Project } from './sdk-package.ts';

const run = promisify(execFile);

/** The documents whose blocks run here, in this order. */
export const GUIDES: readonly string[] = [
  'README.md',
  'docs/guides/app-developer.md',
  'docs/guides/operator.md',
  ...pagesIn('docs/guides/operator'),
  'docs/guides/wallet-owner.md',
  'examples/chat/README.md',
  ...pagesIn('docs/guides/providers'),
];

function pagesIn(folder: string): readonly string[] {
  return readdirSync(path.join(ROOT, folder)).map((name) => `${folder}/${name}`);
}

/** The stage on which the blocks of a guide run. */
export interface GuideStage {
  /** Where scripts run: an app's project with the SDK installed. */
  readonly project: Project;
  readonly environment: Readonly<Record<string, string>>;
  /** A folder that settings may name as the data directory. */
  readonly dataDirectory: string;
}

export interface GuideBlock {
  readonly name: string;
  /** Why it cannot run on this machine. */
  readonly skip: string | false;
  /** Runs or checks it, and throws if it does not do what it says. */
  readonly run: (stage: GuideStage) => Promise<void>;
}

/**
 * The blocks of a guide in order, each with the way to run it. The word after the language says what a block is. A block that nothing
 * here can run is an error, so that none is added unnoticed.
 */
export function guideBlocks(document: string): readonly GuideBlock[] {
  const blocks = blocksOf(document);
  let printed: string | undefined; // The output of the previous block.
  return blocks.map((block, index) => {
    const name = `block ${index + 1} (${`${block.language} ${block.file ?? ''}`.trim()}) under ${block.heading}`;
    const isShown = ['json', 'text'].includes(blocks[index + 1]?.language ?? '');
    const work = workOf(block, isShown);
    if (work === undefined) throw new Error(`${document}, ${name}: nothing runs such a block.`);
    // The output of a block that is left out is left out with it.
    const of = block.language === 'text' ? blocks[index - 1] : block;
    const skip = of?.language === 'python' ? reasonToSkip(of.code, findPython()) : false;
    return { name, skip, run: async (stage) => void (printed = await work(stage, printed)) };
  });
}

type Work = (stage: GuideStage, printed: string | undefined) => Promise<string | undefined>;

/** Returns what a block does. `isShown` tells that the next block shows the output of this one. */
function workOf(block: Block, isShown: boolean): Work | undefined {
  const { language, file, code } = block;
  switch (`${language} ${file ?? ''}`.trim()) {
    case 'sh':
      return (stage) => runShell(stage, isShown ? code : MUST_SUCCEED + code);
    case 'sh commands':
      return async () => checkCommands(code);
    case 'js':
      return ({ project, environment }) => {
        project.write('block.js', code);
        return project.run('block.js', { environment });
      };
    case 'python':
      return ({ project, environment }) => {
        const PYTHONPATH = [path.join(PYTHON_PACKAGE, 'src'), project.folder].join(path.delimiter);
        return runPython(['-c', code], { environment: { ...environment, PYTHONPATH } });
      };
    case 'json':
      return async (_stage, printed) => assertShape(JSON.parse(code), JSON.parse(printed ?? 'null'), '$');
    case 'text':
      return async (_stage, printed) => assertText(printed ?? '', code);
    case 'text purser': // The block before shows the command.
      return async (_stage, command) => assertText(await outputOfPurser(command ?? ''), code);
    case 'sh settings':
      return ({ dataDirectory }) => checkSettings(code, dataDirectory);
    case 'json catalogue':
      return async () => checkCatalogue(code);
    case 'text answer': // Of a vendor: tests/documents/provider-pages.test.ts compares it with the catalogue entry.
      return async () => undefined;
    case 'text log': // As a terminal shows it: the times are of another day.
      return async () => undefined;
    case 'ini unit': // A change of the unit for systemd.
      return async () => checkUnit(code);
    case 'json policy': // Of another system.
      return async () => void JSON.parse(code);
    case 'json provider-keys':
      return async () => void providerKeysSchema.parse(JSON.parse(code));
  }
  if (!['js', 'python'].includes(language) || file === undefined) return undefined;
  return async ({ project }) => {
    project.write(file, code);
    return undefined;
  };
}

/** This makes an error answer fail the block, if the answer of a request is not shown. */
const MUST_SUCCEED = 'curl() { command curl --fail-with-body "$@"; }\n';

async function runShell({ project, environment }: GuideStage, code: string): Promise<string> {
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', code], {
    cwd: project.folder,
    env: { PATH: process.env['PATH'], ...environment },
    timeout: 60_000,
  });
  return stdout.trim();
}

const NPM = /\bnpm (?:run )?([a-z]+(?::[a-z]+)?)(?: -- ([a-z]+(?: [a-z]+)?))?/g;
const COMMANDS = commandNames().join('\n');
/** These commands are of npm itself. */
const NPM_COMMANDS = ['start', 'test', 'pack', 'install', 'ci'];

/** For commands that need a separate machine, checks their syntax and that our own commands exist. */
async function checkCommands(code: string): Promise<string> {
  await run('bash', ['-n', '-c', code]);
  const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Readonly<Record<string, string>>;
  };
  for (const [text, script = '', words] of code.matchAll(NPM)) {
    assert.ok(script in scripts || NPM_COMMANDS.includes(script), text);
    if (script === 'purser') assert.match(COMMANDS, new RegExp(`^${words ?? ''}\\b`, 'm'), text);
  }
  return code;
}

/** Reads a file of settings with a shell and checks that the service would start with it. */
async function checkSettings(code: string, dataDirectory: string): Promise<undefined> {
  const { stdout } = await run('bash', ['-euc', `set -a; ${code}\nenv -0`], { env: {} });
  const settings = new Map<string, string>();
  for (const line of stdout.split('\0'))
    settings.set(line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1));
  const known = settingNames();
  for (const [, name = ''] of code.matchAll(/^([A-Z_]+)=/gm)) {
    assert.ok(known.has(name) || name.endsWith('_API_KEY'), name);
    assert.ok(settings.has(name), name);
  }
  const sample = { ...Object.fromEntries(settings), PURSER_DATA_DIR: dataDirectory };
  const refusal =
    /^Error: PURSER_SECRET is still the placeholder.*(?:\n\w+ still has the value of the guide's sample\..*)+$/;
  assert.throws(() => readConfig(sample), refusal);
  readConfig(filledIn(sample));
  return undefined;
}

/** A sample of settings with an operator's own values. */
export function filledIn(sample: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const own = Object.entries(sample).map(([name, value]) => [name, PLACEHOLDERS.has(value) ? ownOf(value) : value]);
  return { ...Object.fromEntries(own), PURSER_SECRET: randomBytes(48).toString('base64') };
}

function ownOf(placeholder: string): string {
  return placeholder
    .replaceAll('example.com', 'example.test')
    .replace('Example', 'Own')
    .replace('...', 'a1b2c3')
    .replace('a-long', 'a-very-long');
}

/** Each line changes a setting that our unit has. */
function checkUnit(code: string): undefined {
  const unit = readFileSync(path.join(ROOT, 'deploy/systemd/purser.service'), 'utf8');
  for (const [line] of code.matchAll(/^(?:\[\w+\]|\w+=)/gm)) assert.ok(unit.includes(`\n${line}`), line);
  return undefined;
}

function checkCatalogue(code: string): undefined {
  catalogueSchema.parse(JSON.parse(code));
}

/** The settings that the service reads, without those of tests or of one command's sign-in. */
export function settingNames(): ReadonlySet<string> {
  const names = new Set<string>();
  const app = path.join(ROOT, 'packages/service/src/app');
  const settings = readdirSync(path.join(app, 'settings')).filter((file) => !file.endsWith('.test.ts'));
  for (const file of ['secrets/secret.ts', ...settings.map((name) => `settings/${name}`)]) {
    const source = readFileSync(path.join(app, file), 'utf8');
    for (const [, name = ''] of source.matchAll(/'((?:PURSER_[A-Z_]+)|HOST|PORT|DATABASE_URL|SMTP_URL)'/g)) {
      names.add(name);
    }
  }
  const telemetry = readSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' });
  readTelemetry(telemetry); // It puts some of its names together.
  for (const { name } of telemetry.asked()) names.add(name);
  for (const name of ['PURSER_FAILPOINT', 'PURSER_LISTEN_TOKEN', 'PURSER_SESSION_TOKEN', 'PURSER_URL'])
    names.delete(name);
  return names;
}

function assertText(printed: string, text: string): undefined {
  assert.match(printed, patternOf(text));
}

/** Makes a pattern from a text in which `...` stands for anything. */
function patternOf(text: string): RegExp {
  const parts = text.trim().split('...');
  return new RegExp(
    parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\r?\n/g, '\\r?\\n')).join('[^]*'),
  );
}

/** Asserts the same fields with the same kinds of values. Each element of an array must be like the first one shown. */
function assertShape(shown: unknown, given: unknown, at: string): undefined {
  assert.equal(kindOf(given), kindOf(shown), at);
  if (Array.isArray(shown) && Array.isArray(given)) {
    if (shown.length > 0) assert.ok(given.length > 0, `${at} is empty`);
    for (const [index, one] of given.entries()) assertShape(shown[0], one, `${at}[${index}]`);
  } else if (kindOf(shown) === 'object') {
    const [wanted, found] = [shown, given] as Readonly<Record<string, unknown>>[];
    assert.deepEqual(Object.keys(found ?? {}), Object.keys(wanted ?? {}), at);
    for (const [name, value] of Object.entries(wanted ?? {})) assertShape(value, found?.[name], `${at}.${name}`);
  }
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}
