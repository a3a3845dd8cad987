import { stat, statfs } from 'node:fs/promises';
import type { Config } from '#app/config.ts';
import { doubtsOf } from '#app/doubts.ts';
import { isTestKey } from '#app/payment-settings.ts';
import { listBackups, listSystems } from '#backup/folder.ts';
import { hasSecretOf } from '#db/kept-keys.ts';
import type { Pool } from '#db/pool.ts';
import { type Clock, epochMsOf, steadyClock } from '#kernel/clock.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { selectMailTrouble } from '#mail/queries.ts';
import { diagnose, type Diagnosis } from '#operator/doctor.ts';
import { type FactOptions, type OwnFacts, readStoredFacts } from '#operator/doctor-facts.ts';
import { createProviderKeys } from '#providers/keys/provider-keys.ts';
import { nearestTo } from '#app/near-names.ts';

/** What the doctor found, and when it looked. */
interface Examination {
  readonly atMs: number;
  readonly findings: readonly Diagnosis[];
}

/** Settings that are asked for only beside others. A test compares both lists with the operator's guide. */
const ASKED_SOMETIMES = [
  'PURSER_MAIL_FROM',
  'PURSER_OIDC_CLIENT_ID',
  'PURSER_OIDC_CLIENT_SECRET',
  'PURSER_OIDC_NAME',
  'PURSER_OIDC_ONLY',
  'PURSER_OIDC_REQUIRE',
  'PURSER_OIDC_ROLES',
  'PURSER_OIDC_ROLE_CLAIM',
  'PURSER_OIDC_SCOPES',
  'PURSER_STRIPE_API_BASE',
  'PURSER_STRIPE_WEBHOOK_SECRET',
  // Of commands, and of the processes that the service starts.
  'PURSER_LISTEN_TOKEN',
  'PURSER_SESSION_TOKEN',
  'PURSER_URL',
  'PURSER_WORKER_GROUND',
];
/** Variables that the guides keep ids, tokens and the demo's owner in, for the commands that a reader copies. */
const OF_GUIDES = /^PURSER_(?:[A-Z]+_TOKEN|[A-Z]+_KEY|[A-Z]+_ID|OWNER_EMAIL|OWNER_PASSWORD|WEBHOOK_SECRET)$/;
const KEPT_MS = 30_000;

/** Variables that begin like a setting of ours and are none, each with the setting that is spelt almost like it. */
export function unknownSettings(names: readonly string[], settings: Config['settings']): readonly string[] {
  const known = new Set([...settings.map(({ name }) => name), ...ASKED_SOMETIMES]);
  return names
    .filter((name) => name.startsWith('PURSER_') && !known.has(name))
    .flatMap((name) => {
      const meant = nearestTo(name, known);
      if (meant === undefined && OF_GUIDES.test(name)) return [];
      return [meant === undefined ? name : `${name} (did you mean ${meant}?)`];
    });
}

/** Looks at everything. `pool` undefined: no database runs. */
export async function examine(config: Config, pool: Pool | undefined, log: Log): Promise<readonly Diagnosis[]> {
  const own = await ownFacts(config);
  const stored =
    pool &&
    (await readStoredFacts({ pool, ...factOptions(config) }).catch((fault: unknown) => {
      log.warn({ fault: describeFault(fault) }, 'the doctor cannot read the database');
      return undefined;
    }));
  return diagnose(own, stored);
}

/** The doctor of a gateway. Its findings are kept for half a minute, because the page that shows them looks every ten seconds. */
export function createDoctor(
  config: Config,
  { pool, clock, log }: { readonly pool: Pool; readonly clock: Clock; readonly log: Log },
): () => Promise<Examination> {
  let kept: { readonly untilMs: number; readonly looked: Promise<Examination> } | undefined;
  return () => {
    if (kept === undefined || steadyClock.nowMs() >= kept.untilMs) {
      const looked = examine(config, pool, log).then((findings) => ({ atMs: clock.nowMs(), findings }));
      kept = { untilMs: steadyClock.nowMs() + KEPT_MS, looked };
    }
    return kept.looked;
  };
}

function factOptions(config: Config): Omit<FactOptions, 'pool'> {
  const keys = createProviderKeys({ ...config, clock: steadyClock });
  return {
    isOwnSecret: (fingerprint) => fingerprint === null || hasSecretOf(fingerprint, config),
    hasKey: (provider) => keys.sourcesOf(provider).length > 0,
    readMail: selectMailTrouble,
  };
}

async function ownFacts(config: Config): Promise<OwnFacts> {
  const { environment, publicUrl, proxyHops, mail, operatorLimits, variables, settings, dataDirectory } = config;
  return {
    isProduction: environment === 'production',
    publicUrl,
    proxyHops,
    sendsMail: mail !== undefined,
    payments: paymentsOf(config),
    needsSecondPerson: operatorLimits?.secondPersonAbove !== undefined,
    unknownSettings: unknownSettings(variables, settings),
    disk: await diskOf(dataDirectory),
    ssoSaysFactor: config.sso && config.sso.required !== undefined,
    hasTwoSecrets: config.secretAlso !== undefined,
    doubts: doubtsOf(config),
    isEmbedded: config.databaseUrl === undefined,
    backups: await backupsOf(config),
  };
}

function paymentsOf({ payments }: Config): OwnFacts['payments'] {
  if (payments.processor === 'none') return 'none';
  if (payments.processor === 'test') return 'test money';
  return isTestKey(payments) ? 'test key' : 'live';
}

async function backupsOf({ backups, dataDirectory }: Config): Promise<OwnFacts['backups']> {
  if (backups === undefined) return undefined;
  try {
    const [folder, data, systems] = await Promise.all([stat(backups), stat(dataDirectory), listSystems(backups)]);
    const whole = (await Promise.all(systems.map((one) => listBackups(backups, one)))).flat();
    const endedMs = whole.map(({ record }) => epochMsOf(record.endedAt)).toSorted((a, b) => a - b);
    return { lastAtMs: endedMs.at(-1), isOnDataDisk: folder.dev === data.dev };
  } catch {
    return 'unreadable';
  }
}

async function diskOf(directory: string): Promise<OwnFacts['disk']> {
  try {
    const { bavail, blocks, bsize } = await statfs(directory);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch {
    return undefined;
  }
}
