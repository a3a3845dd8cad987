import { DOCTOR_CHECKS } from '@purser/contract/doctor.ts';
import { FROM_BEFORE_RELEASE } from '#db/schema/migrate.ts';
import { isoOf } from '#kernel/time/clock.ts';
import { counted } from '#kernel/text/counted.ts';
import type { OwnFacts, StoredFacts } from '#doctor/diagnosis/facts.ts';
import { bad, type CheckResult, good, warn } from '#doctor/findings/check-result.ts';
import { REMEDIES } from '#doctor/findings/remedies.ts';
import {
  judgeBackups,
  judgeConnections,
  judgeHosting,
  judgePrices,
  judgeReplication,
} from '#doctor/diagnosis/server.ts';

type DoctorCheck = (typeof DOCTOR_CHECKS)[number];

/** One thing that the doctor looked at. `bad`: money, mail or sign-ins suffer now. `warn`: they may. */
export interface Diagnosis {
  readonly check: DoctorCheck;
  readonly level: 'good' | 'warn' | 'bad';
  readonly what: string;
  /** Why it matters, and what to do. Empty if it is good. */
  readonly why: string;
  readonly remedy: string;
}

/**
 * What was read from the database. It is undefined if the database was not reached. It is only the schema if that is
 * another one than that of this build.
 */
type Stored = StoredFacts | Pick<StoredFacts, 'schema'> | undefined;

const MIB = 1024 * 1024;
const FREE_BYTES_BAD = 64 * MIB;
const FREE_BYTES_WARN = 1024 * MIB;
const SKEW_MS_WARN = 1_000;
const SKEW_MS_BAD = 30_000;
const CHECK_SECONDS_MAX = 300;
const FULL_CHECK_DAYS_MAX = 7;
const DAY_MS = 86_400_000;
/** What loses committed money, or makes the books wrong, after a crash of the database's machine. */
const LOSING: Readonly<Record<string, string>> = { fsync: 'off', full_page_writes: 'off' };
const SLOWING: Readonly<Record<string, string>> = { synchronous_commit: 'off', autovacuum: 'off' };

/** Judges the facts. What needs a person comes first, and then everything that is as it should be. */
export function diagnose(own: OwnFacts, stored: Stored): readonly Diagnosis[] {
  const found = { ...judgeOwn(own), ...judgeDatabase(own, stored) };
  const all = DOCTOR_CHECKS.map((check): Diagnosis | undefined => {
    const one = found[check];
    if (one === undefined) return undefined;
    return { check, level: one.level, what: one.what, ...(one.level === 'good' ? NOTHING : adviceOf(check, one)) };
  }).filter((one) => one !== undefined);
  const order = ['bad', 'warn', 'good'];
  return all.toSorted((a, b) => order.indexOf(a.level) - order.indexOf(b.level));
}

function adviceOf(check: DoctorCheck, { remedy }: CheckResult) {
  return { why: REMEDIES[check].why, remedy: remedy ?? REMEDIES[check].remedy };
}

const NOTHING = { why: '', remedy: '' };
type Findings = { readonly [Check in DoctorCheck]?: CheckResult | undefined };
const OF_ANOTHER_BUILD = 'Keep that build for it, or name an empty database in DATABASE_URL.';
const UNREACHED: Findings = { database: bad('The database is not responding, so nothing that it stores was checked.') };

function judgeDatabase(own: OwnFacts, stored: Stored): Findings {
  if (stored === undefined) return own.refusal === undefined ? UNREACHED : { database: bad(own.refusal) };
  if ('server' in stored) return judgeStored(own, stored);
  const { is, ours, isFromBeforeRelease } = stored.schema;
  if (isFromBeforeRelease) return { schema: { ...bad(`${FROM_BEFORE_RELEASE}.`), remedy: OF_ANOTHER_BUILD } };
  if (is === 0) return { schema: good('The database is empty. The first start makes its schema.') };
  return {
    schema: bad(`The database has the schema ${is}, and this build ${ours}. Nothing else in it was checked.`),
  };
}

function judgeOwn(own: OwnFacts): Findings {
  const { isProduction, publicUrl, proxyHops, sendsMail, payments, disk } = own;
  const { protocol, hostname } = new URL(publicUrl);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  const isUnproxied = isProduction && protocol === 'https:' && proxyHops === 0;
  return {
    start: judgeStart(own.startFaults),
    disk: judgeDisk(disk),
    'public-url':
      isProduction && isLocal
        ? warn(`PURSER_PUBLIC_URL names this machine: ${publicUrl}.`)
        : good(`Links begin with ${publicUrl}.`),
    proxies: isUnproxied
      ? warn('PURSER_PUBLIC_URL is https, so there is a proxy, and PURSER_PROXY_HOPS is 0.')
      : good(`${counted(proxyHops, 'proxy is', 'proxies are')} trusted to say where a caller is.`),
    mail: sendsMail || !isProduction ? undefined : bad('No e-mails are sent: SMTP_URL is not set.'),
    payments: judgePayments(payments, isProduction),
    'single-sign-on': judgeSso(own),
    settings: judgeSettings(own.unwiseSettings),
  };
}

function judgeStart(faults: OwnFacts['startFaults']): CheckResult | undefined {
  if (faults === undefined) return undefined;
  return faults.length === 0 ? good('A start would refuse nothing.') : bad(faults.join(' '));
}

function judgeSettings(unwiseSettings: readonly string[]): CheckResult {
  if (unwiseSettings.length === 0) return good('Every variable that begins with PURSER_ is a setting.');
  return { ...warn(unwiseSettings.join(' ')), remedy: 'Unset them, unless this is what you want.' };
}

function judgeSso({ isProduction, ssoSaysFactor }: OwnFacts): CheckResult | undefined {
  if (ssoSaysFactor === undefined) return undefined;
  if (ssoSaysFactor || !isProduction) return good('Operators sign in through a provider, as the settings say.');
  return warn('Operators sign in through a provider that does not have to say whether it asked for a second factor.');
}

function judgeDisk(disk: OwnFacts['disk']): CheckResult {
  if (disk === undefined) return bad('The disk of the data directory cannot be read.');
  const free = `${Math.floor(disk.freeBytes / MIB)} MiB are free on the disk of the data directory.`;
  if (disk.freeBytes < FREE_BYTES_BAD) return bad(free);
  return disk.freeBytes < FREE_BYTES_WARN ? warn(free) : good(free);
}

function judgePayments(payments: OwnFacts['payments'], isProduction: boolean): CheckResult {
  if (!isProduction || payments === 'live') return good('Payments are as the settings say.');
  if (payments === 'none') return warn('Nobody can pay: there is no payment processor.');
  return warn(`Payments move no real money: ${payments}.`);
}

function judgeStored(own: OwnFacts, stored: StoredFacts): Findings {
  const { schema, skewMs, secretFits, webhooks, missingKeys } = stored;
  const { late, disabled } = webhooks;
  return {
    database: good(`The database is responding: PostgreSQL ${stored.server}.`),
    schema: good(`The schema is ${schema.is}, and this build knows ${schema.ours}.`),
    'database-settings': judgeServer(stored.serverSettings),
    restored: judgeRestored(stored),
    server: judgeHosting(stored.hosting),
    replication: judgeReplication(own, stored.hosting),
    backups: judgeBackups(own, stored),
    prices: judgePrices(own, stored.prices),
    connections: judgeConnections(stored),
    clock: judgeClock(skewMs),
    secret: judgeSecret(own, secretFits),
    gateways:
      stored.gateways > 0
        ? good(`${counted(stored.gateways, 'gateway has', 'gateways have')} a lease.`)
        : bad('No gateway has a lease.'),
    books: judgeBooks(stored),
    'full-check': judgeFullCheck(own, stored),
    ...(own.sendsMail ? { mail: judgeMail(stored.mail) } : {}),
    webhooks:
      late + disabled > 0
        ? warn(
            `${counted(late, 'delivery is', 'deliveries are')} late by five minutes, and ${counted(disabled, 'app has', 'apps have')} a disabled webhook.`,
          )
        : good('No delivery is late, and no webhook is disabled.'),
    'provider-keys': judgeKeys(own, missingKeys),
    ...judgeOperators(own, stored),
  };
}

/** The demo has a model of a provider whose key a newcomer need not have. */
function judgeKeys({ isProduction }: OwnFacts, missing: readonly string[]): CheckResult {
  if (missing.length === 0) return good('Every provider of the catalogue has its key.');
  const what = `These providers have no key that they may be sent: ${missing.join(', ')}.`;
  return isProduction ? bad(what) : warn(what);
}

function judgeRestored({ restored }: StoredFacts): CheckResult {
  if (restored === undefined) return good('This database is not a restored copy that is waiting to be accepted.');
  const { untilMs } = restored;
  const until = untilMs === undefined ? '' : ` It ends at ${isoOf(untilMs)}.`;
  return bad(`This database was restored from a backup, and no gateway starts on it yet.${until}`);
}

function judgeSecret({ hasTwoSecrets }: OwnFacts, fits: boolean): CheckResult {
  if (!fits) return bad('PURSER_SECRET is not the secret of this database.');
  if (hasTwoSecrets) return warn('PURSER_SECRET_ALSO is set, so two secrets open this database.');
  return good('PURSER_SECRET is the secret of this database.');
}

function judgeServer(settings: StoredFacts['serverSettings']): CheckResult {
  const set = (table: Readonly<Record<string, string>>) =>
    settings.filter(({ name, value }) => table[name] === value).map(({ name, value }) => `${name} = ${value}`);
  const [losing, slowing] = [set(LOSING), set(SLOWING)];
  if (losing.length > 0) return bad(`The server has ${losing.join(' and ')}.`);
  return slowing.length > 0
    ? warn(`The server has ${slowing.join(' and ')}.`)
    : good('The server keeps what it commits.');
}

function judgeClock(skewMs: number): CheckResult {
  const size = Math.abs(skewMs);
  const what = `The clock of this machine and that of the database differ by ${(size / 1_000).toFixed(1)} s.`;
  if (size >= SKEW_MS_BAD) return bad(what);
  return size >= SKEW_MS_WARN ? warn(what) : good(what);
}

function judgeBooks({ books: { differences, checkedSecondsAgo }, gateways }: StoredFacts): CheckResult {
  if (differences > 0)
    return bad(`The last check of the ledger found ${counted(differences, 'difference', 'differences')}.`);
  if (checkedSecondsAgo === undefined) return warn('The ledger has not been checked yet.');
  const what = `The last check of the ledger found no difference, ${Math.round(checkedSecondsAgo)} s ago.`;
  // Nothing checks while no gateway runs.
  return checkedSecondsAgo > CHECK_SECONDS_MAX && gateways > 0 ? warn(what) : good(what);
}

function judgeFullCheck(
  { isProduction }: OwnFacts,
  { lastFullCheckAtMs, nowMs }: StoredFacts,
): CheckResult | undefined {
  if (!isProduction) return undefined;
  if (lastFullCheckAtMs === undefined) return warn('There has been no full check of the ledger within a week.');
  const days = Math.floor((nowMs - lastFullCheckAtMs) / DAY_MS);
  const what = `The last full check of the ledger was ${counted(days, 'day', 'days')} ago.`;
  return days > FULL_CHECK_DAYS_MAX ? warn(what) : good(what);
}

function judgeMail({ waitingLong, failedOfDay }: StoredFacts['mail']): CheckResult {
  if (waitingLong + failedOfDay === 0) return good('No e-mail has failed within a day, and none is waiting.');
  const what = `${counted(waitingLong, 'message has', 'messages have')} waited for more than ten minutes, and ${failedOfDay} of the last day ${failedOfDay === 1 ? 'was' : 'were'} refused or given up.`;
  return waitingLong > 0 ? bad(what) : warn(what);
}

function judgeOperators({ isProduction, needsSecondPerson }: OwnFacts, { operators }: StoredFacts): Findings {
  const { withoutFactor, all, movers } = operators;
  if (all === 0)
    return { 'second-factors': warn('There is no operator yet. `npm run purser -- operator create` makes one.') };
  const bare = `These operators have no second factor: ${withoutFactor.join(', ')}.`;
  const alone = `${counted(movers, 'operator', 'operators')} can confirm what another one asked for.`;
  return {
    'second-factors':
      withoutFactor.length === 0
        ? good('Every operator has a second factor.')
        : isProduction
          ? warn(bare)
          : good(`${bare} In development they need none.`),
    ...(needsSecondPerson ? { 'second-person': movers < 2 ? warn(alone) : good(alone) } : {}),
  };
}
