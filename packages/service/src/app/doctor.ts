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

/** What the doctor found, and when it looked. */
interface Examination {
  readonly atMs: number;
  readonly findings: readonly Diagnosis[];
}

const KEPT_MS = 30_000;

/** What only the command knows: what a start would refuse, and why the server lets nobody in. */
export type StartFacts = Pick<OwnFacts, 'startFaults' | 'refusal'>;
const RUNNING: StartFacts = { startFaults: undefined, refusal: undefined };

/** Looks at everything. `pool` undefined: no database runs. */
export async function examine(
  config: Config,
  pool: Pool | undefined,
  log: Log,
  start: StartFacts = RUNNING,
): Promise<readonly Diagnosis[]> {
  const own = { ...(await ownFacts(config)), ...start };
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

async function ownFacts(config: Config): Promise<Omit<OwnFacts, keyof StartFacts>> {
  const { environment, publicUrl, proxyHops, mail, operatorLimits, dataDirectory } = config;
  return {
    isProduction: environment === 'production',
    publicUrl,
    proxyHops,
    sendsMail: mail !== undefined,
    payments: paymentsOf(config),
    needsSecondPerson: operatorLimits?.secondPersonAbove !== undefined,
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
