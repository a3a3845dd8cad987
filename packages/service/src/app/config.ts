import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { email as emailSchema, newPassword } from '@purser/contract/control.ts';
import type { AppLimits } from '#accounts/key-directory.ts';
import { readMail } from '#app/mail-settings.ts';
import { type PaymentSettings, readPayments } from '#app/payment-settings.ts';
import { readSettings, type SettingsReader } from '#app/settings.ts';
import { LEASE_MS } from '#db/instance.ts';
import { type ArmedFailpoint, FAILPOINTS } from '#kernel/failpoint.ts';
import { VISIBLE_ASCII } from '#kernel/header-text.ts';
import type { LogLevel } from '#kernel/log.ts';
import { type Micros, micros } from '#kernel/micros.ts';
import type { SmtpSettings } from '#mail/smtp.ts';

/** Everything that can be set from outside (`docs/guides/operator.md`, "Settings"). The only reader of the environment. */
export interface Config {
  readonly environment: 'development' | 'production';
  readonly host: string;
  readonly port: number;
  /** Base of the links that are handed out, without a slash at its end. */
  readonly publicUrl: string;
  /** Undefined: the embedded server in the data directory. */
  readonly databaseUrl: string | undefined;
  readonly dataDirectory: string;
  readonly secret: Buffer;
  /** Undefined: the demo catalogue, in development only. */
  readonly catalogueFile: string | undefined;
  readonly appLimits: AppLimits;
  readonly sandboxGrant: Micros;
  readonly currency: string;
  readonly workers: number;
  /** How long a gateway may be silent before its holds are released (WA-10). The same for all gateways of a database. */
  readonly leaseMs: number;
  /** Whether anybody may make an account, or operators alone. */
  readonly registration: 'open' | 'closed';
  /** As hosted pages and mail call whoever runs the service. */
  readonly operatorName: string;
  /** Where end users ask, shown on every page. */
  readonly supportEmail: string | undefined;
  /** Proxies in front of the service that add to `x-forwarded-for`. */
  readonly proxyHops: number;
  /** The account that is made when it is missing. */
  readonly operator: { readonly email: string; readonly password: string } | undefined;
  /** Where mail goes. Undefined: nowhere but, in development, the mailbox page. */
  readonly mail: SmtpSettings | undefined;
  readonly payments: PaymentSettings;
  /** What a reader of `/metrics` must show. Undefined: only this machine may read. */
  readonly metricsToken: string | undefined;
  /** Development: endpoints of webhooks may be http and private. */
  readonly webhookAllowPrivate: boolean;
  readonly logLevel: LogLevel;
  /** Where this process dies or stands still on purpose, see `npm run prove`. Never in production. */
  readonly failpoint: ArmedFailpoint | undefined;
  /** A setting that the catalogue names, such as the key of a provider. */
  readonly readEnvironment: (name: string) => string | undefined;
}

/** Settings that cannot be used: the message lists all of them. */
export class ConfigError extends Error {}

const PROJECT = fileURLToPath(new URL('../../../../', import.meta.url));
export const DEMO_CATALOGUE_FILE = fileURLToPath(new URL('../../demo-catalogue.json', import.meta.url));
const SECRET_BYTES_MIN = 32;
/** Passed through, not listed: PostgreSQL may have to run as another user. Every file of ours in it is for its owner. */
const DIRECTORY_MODE_OF_ROOT = 0o711;
const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost']);
/** It is renewed every second. Twice as long as the most is what WA-10 promises at the latest. */
const LEASE_SECONDS = { least: 2, most: LEASE_MS / 1000 };
const COUNT = { least: 1, most: 1_000_000 };

/** Reads and checks the settings. Makes the data directory, and in development its secret. Throws `ConfigError`. */
export function readConfig(environmentVariables: Readonly<Record<string, string | undefined>>): Config {
  const settings = readSettings(environmentVariables);
  const environment = settings.choice('PURSER_ENV', ['development', 'production'], 'development');
  const host = settings.text('HOST') ?? '127.0.0.1';
  const port = settings.whole('PORT', { least: 0, most: 65_535 }, 8787);
  const dataDirectory = path.resolve(PROJECT, settings.text('PURSER_DATA_DIR') ?? '.purser');
  const catalogueFile = settings.text('PURSER_CATALOGUE');
  checkMode(settings, { environment, host, catalogueFile });
  const config = {
    environment,
    host,
    port,
    publicUrl: readPublicUrl(settings, host, port),
    databaseUrl: readDatabaseUrl(settings),
    dataDirectory,
    catalogueFile: catalogueFile === undefined ? undefined : path.resolve(catalogueFile),
    appLimits: {
      ratePerMinute: settings.whole('PURSER_RATE_PER_MINUTE', COUNT, 600),
      rateBurst: settings.whole('PURSER_RATE_BURST', COUNT, 100),
      maxStreamsPerUser: settings.whole('PURSER_MAX_STREAMS_PER_USER', COUNT, 4),
    },
    sandboxGrant: micros(
      BigInt(settings.whole('PURSER_SANDBOX_GRANT_MICROS', { least: 0, most: 2 ** 53 - 1 }, 5_000_000)),
    ),
    currency: readCurrency(settings),
    workers: settings.whole('PURSER_WORKERS', { least: 1, most: 256 }, defaultWorkers(environment)),
    leaseMs: settings.whole('PURSER_LEASE_SECONDS', LEASE_SECONDS, LEASE_SECONDS.most) * 1000,
    registration: settings.choice(
      'PURSER_REGISTRATION',
      ['open', 'closed'],
      environment === 'production' ? 'closed' : 'open',
    ),
    operatorName: settings.text('PURSER_OPERATOR_NAME') ?? 'Purser',
    supportEmail: readSupportEmail(settings),
    proxyHops: settings.whole('PURSER_PROXY_HOPS', { least: 0, most: 9 }, 0),
    operator: readOperator(settings),
    mail: readMail(settings),
    payments: readPayments(settings, environment),
    metricsToken: readMetricsToken(settings),
    webhookAllowPrivate: readAllowPrivate(settings, environment),
    logLevel: settings.choice<LogLevel>('PURSER_LOG_LEVEL', ['debug', 'info', 'warn', 'error', 'silent'], 'info'),
    failpoint: readFailpoint(settings, environment),
    readEnvironment: settings.text,
  } as const;
  const secret = readSecret(settings, environment);
  if (settings.faults().length > 0) throw new ConfigError(settings.faults().join('\n'));
  return { ...config, secret: secret ?? keptSecret(dataDirectory) };
}

/** Who calls the service from this machine, for commands that do; undefined where it is not set. */
export function readSessionToken(): string | undefined {
  return readSettings(process.env).text('PURSER_SESSION_TOKEN');
}

/** The settings of this process. */
export function readProcessConfig(): Config {
  return readConfig(process.env);
}

function checkMode(
  settings: SettingsReader,
  mode: { readonly environment: string; readonly host: string; readonly catalogueFile: string | undefined },
): void {
  if (mode.environment === 'production') {
    if (mode.catalogueFile === undefined) settings.complain('PURSER_CATALOGUE is required in production.');
    return;
  }
  if (!LOOPBACK.has(mode.host) && settings.text('PURSER_ALLOW_PUBLIC_DEVELOPMENT') !== '1') {
    settings.complain(
      `HOST ${mode.host} would show a development service to others. Set PURSER_ENV=production, ` +
        'or PURSER_ALLOW_PUBLIC_DEVELOPMENT=1 if that is what you want.',
    );
  }
}

function readPublicUrl(settings: SettingsReader, host: string, port: number): string {
  const value = settings.text('PURSER_PUBLIC_URL');
  if (value === undefined) return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const url = URL.parse(value);
  const isUsable = url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '';
  if (!isUsable) settings.complain('PURSER_PUBLIC_URL must be an http or https address without a query.');
  return value.replace(/\/+$/, '');
}

function readDatabaseUrl(settings: SettingsReader): string | undefined {
  const value = settings.text('DATABASE_URL');
  if (value !== undefined && !/^postgres(ql)?:\/\//.test(value)) {
    settings.complain('DATABASE_URL must look like postgres://user:password@host:port/database.');
  }
  return value;
}

function readCurrency(settings: SettingsReader): string {
  const value = settings.text('PURSER_CURRENCY') ?? 'EUR';
  if (!/^[A-Z]{3}$/.test(value)) settings.complain('PURSER_CURRENCY must be a code of three capital letters.');
  return value;
}

function readOperator(settings: SettingsReader): Config['operator'] {
  const email = settings.text('PURSER_OPERATOR_EMAIL');
  const password = settings.text('PURSER_OPERATOR_PASSWORD');
  if (email === undefined && password === undefined) return undefined;
  if (!emailSchema.safeParse(email).success) {
    settings.complain('PURSER_OPERATOR_EMAIL must be an e-mail address; it goes with PURSER_OPERATOR_PASSWORD.');
  }
  if (!newPassword.safeParse(password).success) {
    settings.complain('PURSER_OPERATOR_PASSWORD must have 10 to 256 characters; it goes with PURSER_OPERATOR_EMAIL.');
  }
  return email === undefined || password === undefined ? undefined : { email, password };
}

function readSupportEmail(settings: SettingsReader): string | undefined {
  const value = settings.text('PURSER_SUPPORT_EMAIL');
  if (value !== undefined && !emailSchema.safeParse(value).success) {
    settings.complain('PURSER_SUPPORT_EMAIL must be an e-mail address.');
  }
  return value;
}

function readAllowPrivate(settings: SettingsReader, environment: string): boolean {
  const isAsked = settings.text('PURSER_WEBHOOK_ALLOW_PRIVATE') === '1';
  if (isAsked && environment === 'production') {
    settings.complain('PURSER_WEBHOOK_ALLOW_PRIVATE lets webhooks reach private addresses: remove it in production.');
  }
  return isAsked;
}

function readMetricsToken(settings: SettingsReader): string | undefined {
  const value = settings.text('PURSER_METRICS_TOKEN');
  if (value !== undefined && !VISIBLE_ASCII.test(value)) {
    settings.complain(
      'PURSER_METRICS_TOKEN must be visible ASCII characters without spaces, as a header can carry them.',
    );
  }
  return value;
}

function defaultWorkers(environment: string): number {
  return environment === 'production' ? availableParallelism() : 1;
}

function readFailpoint(settings: SettingsReader, environment: string): ArmedFailpoint | undefined {
  const value = settings.text('PURSER_FAILPOINT');
  if (value === undefined) return undefined;
  if (environment === 'production') {
    settings.complain('PURSER_FAILPOINT makes the process die on purpose, for tests: remove it in production.');
    return undefined;
  }
  const [, asked, hit, act] = /^([a-z.-]+):([1-9]\d{0,5}):(kill|stop)$/.exec(value) ?? [];
  const name = FAILPOINTS.find((one) => one === asked);
  if (name !== undefined && (act === 'kill' || act === 'stop')) return { name, hit: Number(hit), act };
  settings.complain('PURSER_FAILPOINT must look like `chat.arrived:1:kill`; kernel/failpoint.ts lists the names.');
  return undefined;
}

/** Undefined where the service makes its own. */
function readSecret(settings: SettingsReader, environment: string): Buffer | undefined {
  const value = settings.text('PURSER_SECRET');
  if (value === undefined) {
    if (environment === 'production') settings.complain('PURSER_SECRET is required in production.');
    return undefined;
  }
  const secret = Buffer.from(value, 'utf8');
  if (secret.length < SECRET_BYTES_MIN) settings.complain(`PURSER_SECRET must have ${SECRET_BYTES_MIN} bytes or more.`);
  return secret;
}

/** The secret of a development service: made at its first start, kept in the data directory. */
function keptSecret(dataDirectory: string): Buffer {
  mkdirSync(dataDirectory, { recursive: true, mode: process.getuid?.() === 0 ? DIRECTORY_MODE_OF_ROOT : 0o700 });
  const file = path.join(dataDirectory, 'secret');
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, randomBytes(SECRET_BYTES_MIN).toString('base64url'), { mode: 0o600 });
  try {
    linkSync(draft, file); // Whole or not at all, and never over another.
  } catch (fault) {
    if (!(fault instanceof Error && 'code' in fault && fault.code === 'EEXIST')) throw fault;
  } finally {
    rmSync(draft, { force: true });
  }
  const secret = readFileSync(file);
  if (secret.length >= SECRET_BYTES_MIN) return secret;
  throw new ConfigError(`${file} is cut short. Remove it: links that it signed are void then, nothing else is lost.`);
}
