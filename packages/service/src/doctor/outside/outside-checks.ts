import { readFileSync } from 'node:fs';
import { type CatalogueProvider, originOf } from '@purser/contract/catalogue-providers.ts';
import type { OUTSIDE_CHECKS } from '@purser/contract/doctor.ts';
import { databaseName, DOCTOR_PURPOSE } from '#doctor/outside/echo.ts';
import { parseCatalogueFile } from '#catalogue/catalogue-file.ts';
import { selectProviders } from '#catalogue/queries.ts';
import { databaseAddressOf } from '#db/servers/hosts.ts';
import { selectRole } from '#db/health/queries.ts';
import { createPool, type Pool } from '#db/pool/pool.ts';
import { systemClock } from '#kernel/time/clock.ts';
import { newDoctorToken } from '#kernel/crypto/doctor-call.ts';
import { proofsOf, type Secrets } from '#kernel/crypto/keys.ts';
import type { Log } from '#kernel/log.ts';
import { type SmtpSettings, tryMailServer } from '#mail/smtp.ts';
import { loadDispatchers } from '#providers/transport/dispatchers.ts';
import { tryCertificate } from '#doctor/outside/certificate.ts';
import { tryDisk } from '#doctor/outside/disk-trial.ts';
import { bad, type CheckResult, good, warn } from '#doctor/findings/check-result.ts';
import { openDirect } from '#doctor/outside/http-get.ts';
import { tryProcessor } from '#doctor/outside/processor.ts';
import { tryProviders } from '#doctor/outside/providers.ts';
import { tryPublicAddress } from '#doctor/outside/public-address.ts';
import { OUTSIDE_REMEDIES } from '#doctor/findings/outside-remedies.ts';
import { judgeRoles } from '#doctor/outside/roles.ts';
import { judgeStrength } from '#doctor/outside/secret-strength.ts';
import { type Check, withinTime } from '#doctor/outside/within-time.ts';

type OutsideCheck = (typeof OUTSIDE_CHECKS)[number];

interface Finding extends Pick<CheckResult, 'level' | 'what'> {
  readonly check: OutsideCheck;
  readonly why: string;
  readonly remedy: string;
}

/** The settings that say whom the service talks to, and where. */
interface OutsideSettings extends Secrets {
  readonly environment: 'development' | 'production';
  readonly publicUrl: string;
  readonly proxyHops: number;
  readonly databaseUrl: string | undefined;
  readonly dataDirectory: string;
  readonly catalogueFile: string | undefined;
  readonly metricsToken: string | undefined;
  readonly operator: { readonly password: string } | undefined;
  readonly mail: SmtpSettings | undefined;
  readonly payments:
    | { readonly processor: 'none' | 'test' }
    | { readonly processor: 'stripe'; readonly stripe: Parameters<typeof tryProcessor>[0] };
  readonly outboundEnvironment: Readonly<Record<string, string | undefined>>;
}

interface Ground {
  /** The database. It is undefined if none runs. */
  readonly database: { readonly url: string; readonly pool: Pool } | undefined;
  readonly log: Log;
}

const MS_MAX = 8_000;
const SKEW_MS_WARN = 5_000;
const SKEW_MS_BAD = 60_000;

type Results = Partial<Record<OutsideCheck, CheckResult | undefined>>;

/**
 * Looks at what only a look from here can show: the disk, the roles of the database, and everybody whom the service talks to. All
 * checks run side by side, each for eight seconds at most. Nothing is changed anywhere, and nobody gets a message.
 */
export async function checkOutside(config: OutsideSettings, ground: Ground): Promise<readonly Finding[]> {
  const { leadingTo } = await loadDispatchers(config.outboundEnvironment);
  const skews: number[] = [];
  const noting = (reached: { readonly found: CheckResult; readonly skews: readonly number[] } | undefined) => {
    skews.push(...(reached?.skews ?? []));
    return reached?.found;
  };
  const url = new URL(config.publicUrl);
  const { mail, payments } = config;
  const checks: readonly (readonly [OutsideCheck, Check<Results>])[] = [
    ['secret-strength', async () => ({ 'secret-strength': strengthOf(config) })],
    ['disk-writes', async () => ({ 'disk-writes': await tryDisk(config.dataDirectory) })],
    ['roles', async () => ({ roles: await rolesOf(config, ground) })],
    ['public-address', (signal) => tryAddress(config, ground, signal)],
    ...(url.protocol === 'https:'
      ? [['certificate', async (signal: AbortSignal) => ({ certificate: await tryCertificate(url, signal) })] as const]
      : []),
    ['providers', async () => ({ providers: noting(await tryProviders(await placesOf(config, ground), leadingTo)) })],
    ...(payments.processor === 'stripe'
      ? [
          [
            'processor',
            async (signal: AbortSignal) => ({
              processor: noting(await tryProcessor(payments.stripe, leadingTo, signal)),
            }),
          ] as const,
        ]
      : []),
    ...(mail === undefined
      ? []
      : [['mail-server', async () => ({ 'mail-server': judgeMail(await tryMailServer(mail)) })] as const]),
  ];
  const parts = await Promise.all(
    checks.map(async ([check, run]): Promise<Results> => {
      const outcome = await withinTime(run, MS_MAX);
      return 'result' in outcome ? outcome.result : { [check]: outcome.failure };
    }),
  );
  const found: Results = Object.assign({ 'other-clocks': judgeClocks(skews) }, ...parts);
  return Object.entries(found).flatMap(([check, one]) =>
    one === undefined ? [] : [findingOf(check as OutsideCheck, one)],
  );
}

function findingOf(check: OutsideCheck, { level, what, remedy }: CheckResult): Finding {
  if (level === 'good') return { check, level, what, why: '', remedy: '' };
  const usual = OUTSIDE_REMEDIES[check];
  return { check, level, what, why: usual.why, remedy: remedy ?? usual.remedy };
}

function strengthOf({
  environment,
  secret,
  metricsToken,
  operator,
  databaseUrl,
}: OutsideSettings): CheckResult | undefined {
  if (environment !== 'production') return undefined;
  const password = databaseUrl === undefined ? '' : (URL.parse(databaseAddressOf(databaseUrl).url)?.password ?? '');
  return judgeStrength(
    secret,
    [metricsToken, operator?.password, password].filter((one) => one !== undefined),
  );
}

async function rolesOf({ databaseUrl }: OutsideSettings, { database, log }: Ground): Promise<CheckResult | undefined> {
  if (database === undefined) return undefined;
  const { url, pool: owner } = database;
  const pools = (['live', 'sandbox'] as const).map((role) =>
    createPool({ url, role, connectionsMax: 1, log, name: 'doctor' }),
  );
  try {
    const [live, sandbox] = await Promise.all(pools.map(selectRole));
    if (live === undefined || sandbox === undefined) return undefined;
    return judgeRoles({ live, sandbox, owner: await selectRole(owner) }, databaseUrl === undefined);
  } catch {
    return bad(
      'No connection can be opened as one of the roles of calls.',
      'Grant purser_live and purser_sandbox to the user of DATABASE_URL.',
    );
  } finally {
    await Promise.all(pools.map((pool) => pool.end()));
  }
}

async function tryAddress(config: OutsideSettings, { database }: Ground, signal: AbortSignal): Promise<Results> {
  const proof = proofsOf(config)(DOCTOR_PURPOSE);
  const dispatcher = await openDirect(); // Directly, as callers do: a proxy for outgoing requests is none of theirs.
  try {
    return await tryPublicAddress(
      {
        ...config,
        token: newDoctorToken(proof, systemClock.nowMs()),
        // During a change of the secret, the gateway may name the database by the other one.
        database:
          database === undefined || config.secretAlso !== undefined
            ? undefined
            : await databaseName(database.pool, proof),
        dispatcher,
      },
      signal,
    );
  } finally {
    await dispatcher.destroy();
  }
}

/** The providers of the catalogue in force or, if the database is away, of the catalogue file. */
async function placesOf({ catalogueFile }: OutsideSettings, { database }: Ground) {
  const stored = database && (await selectProviders(database.pool).catch(() => undefined));
  const named: readonly (readonly [string, CatalogueProvider])[] =
    stored?.map(({ name, definition }) => [name, definition] as const) ??
    (catalogueFile === undefined
      ? []
      : Object.entries(parseCatalogueFile(readFileSync(catalogueFile, 'utf8')).providers));
  return named.flatMap(([name, definition]) => {
    const origin = originOf(definition);
    return origin === undefined ? [] : [{ name, origin }];
  });
}

function judgeMail(fault: string | undefined): CheckResult {
  if (fault === undefined) return good('The mail server takes the connection and the password. No mail was sent.');
  return bad(`The mail server cannot be used: ${fault}.`);
}

/** Compares with the middle of what others say: one wrong clock among them is not ours. */
function judgeClocks(skews: readonly number[]): CheckResult | undefined {
  const skew = skews.toSorted((a, b) => a - b)[Math.floor(skews.length / 2)];
  if (skew === undefined) return undefined;
  const what = `The clock of this machine and those of ${skews.length} others differ by ${(Math.abs(skew) / 1_000).toFixed(0)} s.`;
  if (Math.abs(skew) >= SKEW_MS_BAD) return bad(what);
  return Math.abs(skew) >= SKEW_MS_WARN ? warn(what) : good(what);
}
