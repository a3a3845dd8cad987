import { availableParallelism } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SsoSettings } from '#developers/sso/settings.ts';
import type { ProviderKeyDefinitions } from '@purser/contract/provider-keys.ts';
import { readFailpoint } from '#app/settings/failpoint.ts';
import { readOutbound, readProviderKeys } from '#app/settings/provider-keys.ts';
import { type CellDatabases, readCell, readCellDatabases } from '#app/settings/cells.ts';
import { type DatabaseSettings, readDatabase } from '#app/settings/database.ts';
import { refusePlaceholders, refuseUnknown } from '#app/environment/refused-variables.ts';
import { type LimitSettings, readLimits } from '#app/settings/limits.ts';
import { type LogSettings, readLogSettings } from '#app/settings/log.ts';
import { type OperatorSettings, readOperator, readOperatorLimits, readSupportEmail } from '#app/settings/operator.ts';
import { readMail } from '#app/settings/mail.ts';
import { type PaymentSettings, readPayments } from '#app/settings/payments.ts';
import { dataDirectoryOf, IS_INSTALLED, makeDataDirectory } from '#app/environment/data-directory.ts';
import { keptSecret, readSecrets, secretFile } from '#app/secrets/secret.ts';
import { LOOPBACK, readExposure } from '#app/settings/exposure.ts';
import { readSso } from '#app/settings/sso.ts';
import { SetupError } from '#app/environment/start-error.ts';
import { readTelemetry } from '#app/settings/telemetry.ts';
import { readRetention, type Retention } from '#app/settings/retention.ts';
import { readSettings, type SettingsReader } from '#app/environment/settings-reader.ts';
import { readStop, type StopSettings } from '#app/settings/stop.ts';
import { LEASE_MS } from '#db/processes/instance.ts';
import type { ArmedFailpoint } from '#kernel/faults/failpoint.ts';
import { VISIBLE_ASCII } from '#kernel/text/header-text.ts';
import { type Micros, micros } from '#kernel/values/micros.ts';
import type { SmtpSettings } from '#mail/smtp.ts';
import type { MoneyBounds } from '#operator/acts/money-limits.ts';
import type { TelemetrySettings } from '#telemetry/settings.ts';

/** All settings (`docs/guides/operator/settings.md`). Only this file reads the environment. */
export interface Config extends LimitSettings, LogSettings, StopSettings, DatabaseSettings, CellDatabases {
  readonly environment: 'development' | 'production';
  /** The address to listen on. The default is loopback, so that nothing is exposed by accident. */
  readonly host: string;
  /** The port of the service. 0 lets the system choose a free one, as tests do. */
  readonly port: number;
  /** The port is published on the loopback of the machine around this container. In development only. */
  readonly isInContainer: boolean;
  /** The base of all links that we issue, without a trailing slash. */
  readonly publicUrl: string;
  /** The name of the cell that the database is. Undefined if it is the only one. */
  readonly cell: string | undefined;
  /**
   * The absolute path of the data directory. It holds the embedded database, the settlements on disk, and in
   * development the secret and the demo's keys.
   */
  readonly dataDirectory: string;
  /** The root of the keys for links, forms and cookies; it opens the keys that the database keeps. The same for all processes. */
  readonly secret: Buffer;
  /** The former or the coming secret, while the secret is being changed. */
  readonly secretAlso: Buffer | undefined;
  /** The file of the catalogue. Undefined means the demo catalogue, in development only. */
  readonly catalogueFile: string | undefined;
  /** The play money that a sandbox user starts with (SB-01). */
  readonly sandboxGrant: Micros;
  /** The ISO 4217 code of the currency, for all wallets of the service. */
  readonly currency: string;
  /** The number of gateway processes. */
  readonly workers: number;
  /** How long a gateway process may be silent before its holds are released (WA-10). The same for all of one database. */
  readonly leaseMs: number;
  /** How long calls can be looked up by their ids. 0: not at all. */
  readonly callLookupMs: number;
  /** Whether the log shows what providers say with an error, redacted. */
  readonly showsErrorTexts: boolean;
  /** `open` lets anybody register an account; `closed` lets only operators create accounts. */
  readonly registration: 'open' | 'closed';
  /** The name of the person or company that runs the service, for hosted pages and mail. */
  readonly operatorName: string;
  /** The address for questions of end users, shown on every page. */
  readonly supportEmail: string | undefined;
  /** What everybody may see of how the service runs. `brief`: without the names of models. */
  readonly statusPage: 'full' | 'brief' | 'off';
  /** The number of proxies in front of the service that add to `x-forwarded-for`. */
  readonly proxyHops: number;
  /** The operator account to create at start if it is missing. */
  readonly operator: OperatorSettings | undefined;
  /** The OpenID Connect provider of operators. Undefined if they have passwords. */
  readonly sso: SsoSettings | undefined;
  /** The time for which rows that are about people are kept. */
  readonly retention: Retention;
  /** The mail server. Undefined means that no mail is sent; in development it shows on the mailbox page. */
  readonly mail: SmtpSettings | undefined;
  /** How much money operators may move. If it is undefined, nothing bounds them. */
  readonly operatorLimits: MoneyBounds | undefined;
  readonly payments: PaymentSettings;
  /** Where telemetry is exported. If it is undefined, nothing is exported. */
  readonly telemetry: TelemetrySettings | undefined;
  /** The token that `/metrics` requires. Undefined means that only this machine may read them. */
  readonly metricsToken: string | undefined;
  /** Allows webhook endpoints that use http or private addresses. Development only. */
  readonly webhookAllowPrivate: boolean;
  /** The point at which this process dies or stops on purpose, see `npm run proofs -- histories`. Never in production. */
  readonly failpoint: ArmedFailpoint | undefined;
  /** Each setting that there is, by name, and whether it is set. Never its value. */
  readonly settings: readonly { readonly name: string; readonly isSet: boolean }[];
  /** Reads a variable that the catalogue names, such as a provider's key. */
  readonly readEnvironment: (name: string) => string | undefined;
  /** How each key that the catalogue names is had, and where it may be sent. */
  readonly providerKeys: ProviderKeyDefinitions;
  /** The environment without the service's own settings: for proxies, and for commands that print a key. */
  readonly outboundEnvironment: Readonly<Record<string, string | undefined>>;
}

/** Settings that cannot be used. The message lists all of them, so that one restart can fix them all. */
export class ConfigError extends SetupError {}

export const DEMO_CATALOGUE_FILE = fileURLToPath(new URL('../../../demo-catalogue.json', import.meta.url));
/** A lease is renewed every second. WA-10 promises the release of orphaned holds within twice the longest lease. */
const LEASE_SECONDS_MAX = LEASE_MS / 1000;
const LEASE_SECONDS_MIN = 2;
const DAY_MS = 86_400_000;
const METRICS_TOKEN_LENGTH_MIN = 16;
/**
 * A database may stall for seven seconds before a statement fails, and a lease may be a second old by then. A shorter lease
 * would end in a stall that every process waits out, and the reaper would release the holds of all running calls.
 */
const LEASE_SECONDS_MIN_PRODUCTION = 10;
const PUBLIC_URL_HOW =
  'Set it to the address that people open, such as https://pay.example.com; a proxy in front terminates TLS.';

/** Reads and checks the settings. In development it may create the data directory and its secret. Throws `ConfigError`. */
export function readConfig(
  environmentVariables: Readonly<Record<string, string | undefined>>,
  isTerminal = false,
): Config {
  const settings = readSettings(environmentVariables);
  const environment = settings.choice('PURSER_ENV', ['development', 'production'], 'development');
  const isProduction = environment === 'production';
  const givenHost = settings.text('HOST');
  const host = givenHost ?? '127.0.0.1';
  const port = settings.whole('PORT', { least: 0, most: 65_535 }, 8787);
  const dataDirectory = dataDirectoryOf({
    given: settings.text('PURSER_DATA_DIR'),
    isInstalled: IS_INSTALLED,
    dataHome: environmentVariables['XDG_DATA_HOME'],
  });
  const catalogueFile = settings.text('PURSER_CATALOGUE');
  if (isProduction && catalogueFile === undefined) settings.complain('PURSER_CATALOGUE is required in production.');
  const config = {
    environment,
    host,
    port,
    isInContainer: readExposure(settings, environment, host),
    publicUrl: readPublicUrl(settings, { environment, givenHost, port }),
    ...readDatabase(settings, environment),
    cell: readCell(settings),
    ...readCellDatabases(settings),
    dataDirectory,
    catalogueFile: catalogueFile === undefined ? undefined : path.resolve(catalogueFile),
    ...readLimits(settings),
    sandboxGrant: micros(
      BigInt(settings.whole('PURSER_SANDBOX_GRANT_MICROS', { least: 0, most: 2 ** 53 - 1 }, 5_000_000)),
    ),
    currency: readCurrency(settings),
    workers: settings.whole('PURSER_WORKERS', { least: 1, most: 256 }, defaultWorkers(environment)),
    leaseMs: readLeaseMs(settings, environment),
    ...readStop(settings, environment),
    showsErrorTexts: settings.text('PURSER_LOG_PROVIDER_ERRORS') === '1',
    callLookupMs: settings.whole('PURSER_CALL_LOOKUP_DAYS', { least: 0, most: 366 }, 7) * DAY_MS,
    registration: settings.choice('PURSER_REGISTRATION', ['open', 'closed'], isProduction ? 'closed' : 'open'),
    operatorName: settings.text('PURSER_OPERATOR_NAME') ?? 'Purser',
    supportEmail: readSupportEmail(settings),
    statusPage: settings.choice('PURSER_STATUS_PAGE', ['full', 'brief', 'off'], 'full'),
    proxyHops: settings.whole('PURSER_PROXY_HOPS', { least: 0, most: 9 }, 0),
    operator: readOperator(settings),
    sso: readSso(settings),
    mail: readMail(settings),
    retention: readRetention(settings),
    operatorLimits: readOperatorLimits(settings, environment),
    payments: readPayments(settings, environment),
    telemetry: readTelemetry(settings),
    metricsToken: readMetricsToken(settings),
    webhookAllowPrivate: readAllowPrivate(settings, environment),
    ...readLogSettings(settings, { environment, isTerminal }),
    failpoint: readFailpoint(settings, environment),
    readEnvironment: settings.text,
    providerKeys: readProviderKeys(settings),
    outboundEnvironment: readOutbound(settings, environmentVariables),
  } as const;
  const { secret, secretAlso } = readSecrets(settings, environment);
  refuseUnknown(settings, Object.keys(environmentVariables));
  if (isProduction) refusePlaceholders(settings, environmentVariables);
  if (settings.faults().length > 0) throw new ConfigError(settings.faults().join('\n'));
  return { ...config, settings: settings.asked(), secret: secret ?? ownSecret(dataDirectory), secretAlso };
}

function ownSecret(dataDirectory: string): Buffer {
  makeDataDirectory(dataDirectory);
  const secret = keptSecret(dataDirectory);
  if (secret !== undefined) return secret;
  throw new ConfigError(
    `${secretFile(dataDirectory)} is cut short. Bring it back from a copy. Without one, delete it and run \`npm run purser -- secret replace --lost\`.`,
  );
}

/** The token of `purser listen`: a listen token, or a session's. Undefined when neither is set. */
export function readListenToken(): string | undefined {
  const { text } = readSettings(process.env);
  return text('PURSER_LISTEN_TOKEN') ?? text('PURSER_SESSION_TOKEN');
}

/** The service that such commands call. Undefined when it is not set. */
export function readServiceUrl(): string | undefined {
  return readSettings(process.env).text('PURSER_URL');
}

/** The database that `purser setup` is to use. A word of a command would be seen by others on the machine. */
export function readGivenDatabase(): string | undefined {
  return readSettings(process.env).text('DATABASE_URL');
}

/** The settings of this process, whose output somebody may read at a terminal. */
export function readProcessConfig(): Config {
  return readConfig(process.env, process.stdout.isTTY);
}

/**
 * Links in mail and on pages begin with this. With the default host and no setting, they work on this machine only, and name it
 * `localhost`: browsers bind passkeys to a name, and 127.0.0.1 is none (decision 26). Production
 * needs https, because cookies are `Secure` only then; a service that only this machine reaches may do without.
 */
function readPublicUrl(
  settings: SettingsReader,
  of: { readonly environment: string; readonly givenHost: string | undefined; readonly port: number },
): string {
  const { environment, givenHost: host = 'localhost', port } = of;
  const value = settings.text('PURSER_PUBLIC_URL');
  const isProduction = environment === 'production';
  if (value === undefined) {
    if (isProduction) settings.complain(`PURSER_PUBLIC_URL is required in production. ${PUBLIC_URL_HOW}`);
    return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  }
  const url = URL.parse(value);
  const isUsable = url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '';
  if (!isUsable) settings.complain('PURSER_PUBLIC_URL must be an http or https URL without a query or fragment.');
  else if (isProduction && url.protocol === 'http:' && !LOOPBACK.has(url.hostname)) {
    settings.complain(
      `PURSER_PUBLIC_URL must be https in production, or browsers would send sign-ins unencrypted. ${PUBLIC_URL_HOW}`,
    );
  }
  return value.replace(/\/+$/, '');
}

function readCurrency(settings: SettingsReader): string {
  const value = settings.text('PURSER_CURRENCY') ?? 'EUR';
  if (!/^[A-Z]{3}$/.test(value))
    settings.complain('PURSER_CURRENCY must be a currency code of three capital letters, such as EUR.');
  return value;
}

/**
 * Reads the setting. It is refused in production, because an app could then make the service call machines inside the
 * operator's network.
 */
function readAllowPrivate(settings: SettingsReader, environment: string): boolean {
  const isAsked = settings.text('PURSER_WEBHOOK_ALLOW_PRIVATE') === '1';
  if (isAsked && environment === 'production') {
    settings.complain('PURSER_WEBHOOK_ALLOW_PRIVATE lets webhooks reach private addresses. Remove it in production.');
  }
  return isAsked;
}

/** Anything but visible ASCII could never arrive in a header, so the metrics would be unreachable. */
function readMetricsToken(settings: SettingsReader): string | undefined {
  const value = settings.text('PURSER_METRICS_TOKEN');
  if (value === undefined) return undefined;
  if (!VISIBLE_ASCII.test(value)) {
    settings.complain(
      'PURSER_METRICS_TOKEN must consist of visible ASCII characters without spaces, because it is sent in a header.',
    );
  } else if (value.length < METRICS_TOKEN_LENGTH_MIN) {
    settings.complain(
      `PURSER_METRICS_TOKEN must have ${METRICS_TOKEN_LENGTH_MIN} characters or more. Make one with \`openssl rand -hex 24\`.`,
    );
  }
  return value;
}

function readLeaseMs(settings: SettingsReader, environment: string): number {
  const least = environment === 'production' ? LEASE_SECONDS_MIN_PRODUCTION : LEASE_SECONDS_MIN;
  return settings.whole('PURSER_LEASE_SECONDS', { least, most: LEASE_SECONDS_MAX }, LEASE_SECONDS_MAX) * 1000;
}

/** Node runs JavaScript on one processor, so production starts one process for each. */
function defaultWorkers(environment: string): number {
  return environment === 'production' ? availableParallelism() : 1;
}
