import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { parseEnv } from 'node:util';
import { ConfigError, readConfig } from '#app/settings/config.ts';
import { CommandError } from '#cli/terminal/command-error.ts';
import { filesOf, PROXIES, type Proxy, type SetupFile, settingsOf, type Wanted } from '#cli/setup/setup-files.ts';
import { lookAtDatabase, lookAtMachine } from '#cli/setup/preflight.ts';
import { randomBytes } from '#kernel/crypto/random.ts';

const SECRET_BYTES = 48;
/** What neither a shell nor systemd could read between single quotes. */
const UNQUOTABLE = /['\r\n]/;

export interface SetupOptions {
  readonly url?: string | undefined;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  readonly proxy?: string | undefined;
  readonly replace?: boolean | undefined;
}

/** Asks somebody at a terminal. Undefined where nobody can be asked. */
export type Ask = ((question: string) => Promise<string>) | undefined;

/**
 * Writes what one server needs into a folder, and says what is left to do. Nothing is written before a start would take it, and
 * nothing that exists is changed without `--replace`, which keeps the former file and its secret.
 */
export async function setUp(
  folder: string,
  options: SetupOptions,
  databaseUrl: string | undefined,
  ask: Ask,
): Promise<void> {
  const wanted = await wantedOf(folder, options, databaseUrl, ask);
  const look = wanted.databaseUrl === undefined ? undefined : await lookAtDatabase(wanted.databaseUrl);
  const complete: Wanted = { ...wanted, durability: look?.durability ?? 'disk' };
  refuseUnusable(settingsOf(complete));
  const files = filesOf(complete);
  const differing = files.filter((file) => differenceOf(folder, file) !== undefined);
  if (differing.length > 0 && options.replace !== true) {
    const said = differing.map((file) => differenceOf(folder, file)).join('\n');
    throw new CommandError(`${said}\nNothing was written. --replace keeps each of these files as <name>.before.`);
  }
  mkdirSync(folder, { recursive: true });
  for (const file of files) write(folder, file);
  console.log(leftOf(folder, complete, look?.faults ?? []).join('\n'));
}

/** Asks at the terminal. Nobody else is asked. */
export function terminalAsk(): Ask {
  if (!process.stdin.isTTY) return undefined;
  return async (question) => {
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return (await lines.question(question)).trim();
    } finally {
      lines.close();
    }
  };
}

async function wantedOf(
  folder: string,
  { url, name, email, proxy }: SetupOptions,
  databaseUrl: string | undefined,
  ask: Ask,
): Promise<Omit<Wanted, 'durability'>> {
  const get = async (given: string | undefined, option: string, question: string): Promise<string> => {
    const value = given ?? (await ask?.(question)) ?? '';
    if (value === '') throw new CommandError(`${option} is missing. Give it, or run this at a terminal, which asks.`);
    return value;
  };
  const before = settingsIn(path.join(folder, 'purser.env'));
  const wanted = {
    publicUrl: await get(url, '--url', 'The address that people open, such as https://pay.example.com: '),
    operatorName: await get(name, '--name', 'Your name, for pages and mail: '),
    supportEmail: await get(email, '--email', 'The e-mail for questions of end users: '),
    proxy: proxyOf(
      await get(proxy ?? (ask === undefined ? 'nginx' : undefined), '--proxy', 'The proxy, nginx or caddy: '),
    ),
    databaseUrl:
      databaseUrl ??
      before['DATABASE_URL'] ??
      ((await ask?.('DATABASE_URL, or nothing for the embedded database: ')) || undefined),
    // A lost secret loses all e-mail addresses: one that is there stays.
    secret: before['PURSER_SECRET'] ?? randomBytes(SECRET_BYTES).toString('base64'),
    metricsToken: before['PURSER_METRICS_TOKEN'] ?? randomBytes(SECRET_BYTES / 2).toString('base64url'),
  };
  if (!URL.canParse(wanted.publicUrl))
    throw new CommandError('--url must be an address, such as https://pay.example.com.');
  return wanted;
}

function proxyOf(text: string): Proxy {
  const found = PROXIES.find((one) => one === text);
  if (found === undefined) throw new CommandError(`--proxy must be ${PROXIES.join(' or ')}.`);
  return found;
}

function settingsIn(file: string): Readonly<Record<string, string | undefined>> {
  return existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};
}

/** A start would refuse these settings, so they are not written. */
function refuseUnusable(settings: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(settings)) {
    if (UNQUOTABLE.test(value)) throw new CommandError(`${name} must have no quote and no line break.`);
  }
  try {
    readConfig(settings);
  } catch (fault) {
    throw fault instanceof ConfigError ? new CommandError(`${fault.message}\nNothing was written.`) : fault;
  }
}

/** Says what differs from the file that is there, without values of settings. Undefined if nothing does. */
function differenceOf(folder: string, { name, text }: SetupFile): string | undefined {
  const file = path.join(folder, name);
  if (!existsSync(file)) return undefined;
  const there = readFileSync(file, 'utf8');
  if (there === text) return undefined;
  if (name !== 'purser.env') return `${file} exists and differs in ${countOf(there, text)} lines.`;
  const [before, after] = [parseEnv(there), parseEnv(text)];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return `${file} exists and differs in ${[...names].filter((one) => before[one] !== after[one]).join(', ') || 'its order'}.`;
}

function countOf(there: string, text: string): number {
  const [theirs, ours] = [new Set(there.split('\n')), new Set(text.split('\n'))];
  const [added, gone] = [[...ours].filter((one) => !theirs.has(one)), [...theirs].filter((one) => !ours.has(one))];
  return added.length + gone.length;
}

function write(folder: string, file: SetupFile): void {
  const at = path.join(folder, file.name);
  const differs = differenceOf(folder, file) !== undefined;
  if (existsSync(at) && !differs) return console.log(`${at} is as it should be.`);
  const former = differs ? formerName(at) : undefined;
  if (former !== undefined) renameSync(at, former);
  writeFileSync(at, file.text, { mode: file.mode, flag: 'wx' });
  console.log(`Wrote ${at}${former === undefined ? '' : `, and kept the former one as ${path.basename(former)}`}.`);
}

/** Finds a name that nothing has, so that what an earlier run has kept stays. */
function formerName(at: string): string {
  let name = `${at}.before`;
  for (let count = 2; existsSync(name); count += 1) name = `${at}.before-${count}`;
  return name;
}

/** What somebody still has to do, in order. */
function leftOf(folder: string, { proxy, publicUrl }: Wanted, faults: readonly string[]): readonly string[] {
  const site = proxy === 'nginx' ? 'purser.conf to /etc/nginx/conf.d/' : 'Caddyfile to /etc/caddy/';
  const certificate = `Get a certificate for ${new URL(publicUrl).hostname} with certbot, before nginx reads the site.`;
  return [
    '',
    'Left to do:',
    ...faults.map((fault) => `- ${fault} Then run this again.`),
    ...lookAtMachine(proxy).map((lack) => `- ${lack}`),
    `- Fill in the models and prices of ${path.join(folder, 'catalogue.json')}, and add the keys that it names to purser.env.`,
    '- Add SMTP_URL and PURSER_MAIL_FROM to purser.env, or nobody can sign in to a wallet.',
    '- Keep a copy of PURSER_SECRET elsewhere: without it, all e-mail addresses are lost.',
    '- Copy purser.env and catalogue.json to /etc/purser/, purser.service to /etc/systemd/system/, and purserctl to /usr/local/bin/.',
    `- Copy ${site}.`,
    ...(proxy === 'nginx' ? [`- ${certificate}`] : []),
    '- Run `npm run purser -- doctor` with these settings, then start the service and make your operator account.',
    'The guide is docs/guides/operator/one-server.md.',
  ];
}
