// Kills a process at every failpoint, plain and streamed. A separate call reaches each of them.
import type { Pool } from '../../../packages/service/src/db/pool/pool.ts';
import { estimatedPromptOf, sentBytesOf } from '../../support/prompt-size.ts';
import { sql } from '../../support/sql.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { untilNoHolds } from './books.ts';
import { type Case, casesOf, nameOf } from './cases.ts';
import { startGatewayProcess } from './gateway-process.ts';
import { QUIET_MS_MAX } from './history.ts';
import type { CallFacts } from './history-log.ts';
import { checkHistory } from './model.ts';
import { type HistoryPlan, planHistory, type WalletPlan } from './plan.ts';
import { bodyOf, sendCall } from './prover-client.ts';
import { sleep } from './sleep.ts';
import { checkByOperator, type Stage, setStage, writeLog } from './stage.ts';

export type ExhaustiveResult = Awaited<ReturnType<typeof runExhaustive>>;

interface ExhaustiveOptions {
  readonly seed: number;
  /** The names of the cases to run, see `casesOf`. Undefined means every case. */
  readonly names?: readonly string[];
  readonly atATime: number;
}

const MODEL = 'prove.one';
const OUTPUT_TOKENS = 60;
/** Output costs enough that an overrun exceeds its hold with every seed: otherwise it is settled like any other call. */
const PRICE = {
  input: 1_000_000,
  cachedInput: 250_000,
  output: 4_000_000,
  marginBasisPoints: 1_000,
  promptOverhead: 50,
};
/** A case is tried again if a heartbeat took the new id before the call did, or a replay reached the failpoint. */
const ATTEMPTS_MAX = 5;

/** One bystander survives all cases and releases the holds that the others leave. */
export async function runExhaustive({ seed, names, atATime }: ExhaustiveOptions) {
  const cases = casesOf(names);
  const wallets: readonly WalletPlan[] = cases.map((one) => {
    return {
      user: nameOf(one),
      kind: 'rich',
      firstCredit: one.circumstance === 'poor' ? 1 : 5_000_000,
      cap: undefined,
    };
  });
  const planned = planHistory(seed);
  const prices = { ...planned.prices, [MODEL]: PRICE };
  const plan: HistoryPlan = { ...planned, prices, gateways: 1, hasLongStops: false, hasCut: false, wallets };
  const stage = await setStage(plan, undefined);
  try {
    await refuseUnstorable(stage.owner);
    const calls: CallFacts[] = [];
    const neverFired: string[] = [];
    const run = async (one: Case): Promise<void> => {
      const isKilled = await runCase(stage, one, calls);
      if (!isKilled) neverFired.push(nameOf(one));
    };
    // Fencing hits the newest process, so there must be no other new one.
    for (const one of cases) if (one.circumstance === 'fenced') await run(one);
    const waiting = cases.filter(({ circumstance }) => circumstance !== 'fenced');
    await Promise.all(
      Array.from({ length: atATime }, async () => {
        for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) await run(one);
      }),
    );
    await untilNoHolds(stage.owner, QUIET_MS_MAX);
    const { violations, figures } = checkHistory(await writeLog(stage, calls));
    const all = [...violations, ...(await checkByOperator(stage))];
    const killed = cases.length - neverFired.length;
    return {
      cases: cases.length,
      killed,
      /** The failpoint and kind of call of each case whose process survived. */
      neverFired,
      violations: all,
      figures,
      kept: await stage.close(all),
    };
  } catch (fault) {
    await stage.close([{ rule: 'the exhaustive part did not come to its end', about: String(fault) }]);
    throw fault;
  }
}

/** Whether the case's call killed the process at the failpoint that it was armed with. */
async function runCase(stage: Stage, one: Case, calls: CallFacts[]): Promise<boolean> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    let isFired = false;
    const process = startGatewayProcess({
      databaseUrl: stage.cluster.url,
      dataDirectory: stage.directory,
      catalogueFile: stage.catalogueFile,
      logFile: `${stage.directory}/${nameOf(one).replaceAll(':', '-')}.log`,
      failpoint: `${one.failpoint}:${one.hit}:kill`,
      onFailpoint: () => (isFired = true),
    });
    try {
      const url = await process.ready;
      // A settlement that another case left on disk may lead past the failpoint at the start, before the call of this case.
      if (url === undefined && isFired) continue;
      if (url === undefined) throw new Error(`A gateway did not start: see the logs in ${stage.directory}.`);
      calls.push(...(await sendCase(stage, one, url, attempt)));
      await Promise.race([process.ended, sleep(DEATH_MS_MAX)]);
    } finally {
      process.signal('SIGKILL'); // Also if the case failed: a gateway that is left keeps this process from ending.
      await process.ended;
    }
    if (isFired) return true;
  }
  return false;
}

/** Sends the call of a case, others beside it or itself again if the case is about that. */
async function sendCase(stage: Stage, one: Case, url: string, attempt: number): Promise<readonly CallFacts[]> {
  const { circumstance, isStream, answer } = one;
  const user = nameOf(one);
  const tag = `${circumstance === 'unstorable' ? 'unstorable-' : ''}${user}-${attempt}`;
  const key = circumstance === 'budgeted' ? 'wide' : undefined;
  const call = { user, key, model: MODEL, isStream, wantsUsage: true, outputTokensMax: OUTPUT_TOKENS };
  const tags = circumstance === 'crowded' ? [tag, `${tag}-second`, `${tag}-third`] : [tag];
  for (const name of tags) stage.provider.expect(name, answer);
  if (circumstance === 'fenced') await fenceNewest(stage.owner);
  const isHeldUp = circumstance === 'left' || circumstance === 'crowded';
  const release = isHeldUp ? await lockWallet(stage.owner, user) : undefined;
  const leaveAfterMs = circumstance === 'left' ? LEAVE_MS : undefined;
  const idempotencyKey = circumstance === 'keyed' || circumstance === 'replayed' ? tag : undefined;
  const send = async (as: string, name: string): Promise<CallFacts> => {
    const body = bodyOf({ ...call, tag: name });
    const sending = { ...call, tag: as, url, key: stage.keys.textOf(key), body, leaveAfterMs, idempotencyKey };
    const seen = await sendCall(sending);
    const ending = seen.ending === 'unsent' ? 'unknown' : seen.ending;
    const sizes = { bodyBytes: sentBytesOf(body), promptTokens: estimatedPromptOf(body) };
    return { ...call, tag: as, ...seen, ending, ...sizes, stoppedMs: 0, isDisturbed: true };
  };
  const answered = Promise.all(tags.map((name) => send(name, name)));
  if (release !== undefined) setTimeout(() => void release(), 2 * LEAVE_MS);
  if (circumstance === 'locked') await lockSettlement(stage, user, tag);
  const first = await answered;
  return circumstance === 'replayed' ? [...first, await send(`${tag}-again`, tag)] : first;
}

const LEAVE_MS = 100;
/** This is longer than a caller waits for the database, and shorter than a process may take to die. */
const LOCKED_MS = 3_000;
const DEATH_MS_MAX = 5_000;

/** Makes receipts of calls with this name impossible to write, as if they were broken. */
async function refuseUnstorable(owner: Pool): Promise<void> {
  await sql(owner)`
    create function public.refuse_unstorable() returns trigger language plpgsql as $$ begin
      if new.correlation_id like 'unstorable-%' then raise exception 'this receipt cannot be stored'; end if;
      return new;
    end $$;
    create trigger refuse_unstorable before insert on usage.calls
      for each row execute function public.refuse_unstorable()`;
}

async function fenceNewest(owner: Pool): Promise<void> {
  await sql(owner)`update db.instances set state = 'dead' where instance_id = (select max(instance_id)
    from db.instances)`;
}

/** Locks the wallet between its hold and its settlement. */
async function lockSettlement({ owner, provider }: Stage, user: string, tag: string): Promise<void> {
  await waitUntil('the provider is asked', () => provider.facts.has(tag));
  const release = await lockWallet(owner, user);
  setTimeout(() => void release(), LOCKED_MS);
}

/** Locks a wallet's row, so that its next hold waits. Returns a function that unlocks it. */
async function lockWallet(owner: Pool, user: string): Promise<() => Promise<void>> {
  const client = await owner.connect();
  await client.query('begin');
  await client.query('select from ledger.wallets where user_id = $1 for no key update', [user]);
  return async () => {
    await client.query('rollback');
    client.release();
  };
}
