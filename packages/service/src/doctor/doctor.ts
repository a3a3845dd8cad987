import { stat, statfs } from 'node:fs/promises';
import { type JudgedSettings, unwiseSettingsOf } from '#doctor/diagnosis/unwise-settings.ts';
import { listBackups, listSystems } from '#backup/folder.ts';
import { hasSecretOf } from '#db/identity/kept-keys.ts';
import type { Pool } from '#db/pool/pool.ts';
import { type Clock, epochMsOf, steadyClock } from '#kernel/time/clock.ts';
import type { Secrets } from '#kernel/crypto/keys.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { selectMailTrouble } from '#mail/queries.ts';
import { diagnose, type Diagnosis } from '#doctor/diagnosis/diagnose.ts';
import { type FactOptions, type OwnFacts, readStoredFacts } from '#doctor/diagnosis/facts.ts';
import { createProviderKeys } from '#providers/keys/provider-keys.ts';

/** What the doctor found, and when it looked. */
interface Examination {
  readonly atMs: number;
  readonly findings: readonly Diagnosis[];
}

type KeySettings = Omit<Parameters<typeof createProviderKeys>[0], 'clock'>;

/** The settings that the doctor reads. */
interface DoctorSettings extends Secrets, KeySettings, JudgedSettings {
  readonly publicUrl: string;
  readonly proxyHops: number;
  readonly databaseUrl: string | undefined;
  readonly dataDirectory: string;
  readonly backups: string | undefined;
  readonly mail: object | undefined;
  readonly payments:
    | { readonly processor: 'none' }
    | { readonly processor: 'test' }
    | { readonly processor: 'stripe'; readonly isTestKey: boolean };
  readonly operatorLimits: { readonly secondPersonAbove: bigint | undefined } | undefined;
  readonly sso: { readonly required: object | undefined } | undefined;
}

const KEPT_MS = 30_000;

/** What only the command knows: what a start would refuse, and why the server lets nobody in. */
export type StartFacts = Pick<OwnFacts, 'startFaults' | 'refusal'>;
const RUNNING: StartFacts = { startFaults: undefined, refusal: undefined };

/** Looks at everything. `pool` undefined: no database runs. */
export async function examine(
  config: DoctorSettings,
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
  config: DoctorSettings,
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

function factOptions(config: DoctorSettings): Omit<FactOptions, 'pool'> {
  const keys = createProviderKeys({ ...config, clock: steadyClock });
  return {
    isOwnSecret: (fingerprint) => fingerprint === null || hasSecretOf(fingerprint, config),
    hasKey: (provider) => keys.sourcesOf(provider).length > 0,
    readMail: selectMailTrouble,
  };
}

async function ownFacts(config: DoctorSettings): Promise<Omit<OwnFacts, keyof StartFacts>> {
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
    unwiseSettings: unwiseSettingsOf(config),
    isEmbedded: config.databaseUrl === undefined,
    backups: await backupsOf(config),
  };
}

function paymentsOf({ payments }: DoctorSettings): OwnFacts['payments'] {
  if (payments.processor === 'none') return 'none';
  if (payments.processor === 'test') return 'test money';
  return payments.isTestKey ? 'test key' : 'live';
}

async function backupsOf({ backups, dataDirectory }: DoctorSettings): Promise<OwnFacts['backups']> {
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
