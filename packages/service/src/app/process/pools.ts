import { createPool, type Pool } from '#db/pool/pool.ts';
import type { EmailSeal } from '#kernel/values/email-seal.ts';
import type { Mode } from '#kernel/values/ids.ts';
import { markStatements } from '#kernel/faults/failpoint.ts';
import type { Log } from '#kernel/log.ts';
import { CHECK_STATEMENT_MS_MAX } from '#ledger/watch/watch.ts';
import { REPORT_STATEMENT_MS_MAX, REPORTS_MAX } from '#calls/usage/report.ts';

interface PoolsOptions {
  readonly url: string;
  readonly log: Log;
  readonly emails: EmailSeal;
}

type PoolSettings = Pick<
  Parameters<typeof createPool>[0],
  'statementMsMax' | 'name' | 'keepsOne' | 'keepsConnection' | 'use'
>;

/** The setting of pools that a call waits for. */
const KEPT = { keepsOne: true } as const;

/** These connections are for answers that are kept for retries and read again, balances, usage and drain slots. */
const READS_MAX = 2;
/**
 * These connections are for the lease, the refreshes and the reaper. The lease must not wait behind somebody's usage
 * summary.
 */
const UPKEEP_MAX = 2;
/**
 * These connections are for accounts, apps, operators and pages. Anybody can ask for these, so calls do not wait for
 * them. Deliveries use them, too.
 */
const PLANES_MAX = 3;

/**
 * Opens the pools of one gateway process: ten connections at most beside its channel to the ledger, and three more, for upkeep that
 * the oldest process does for all and for checks of the ledger. A database has few connections, and many processes share them. `openTurns` is for a
 * process that shares no channels with others.
 */
export function openPools({ url, log, emails }: PoolsOptions) {
  const pools: Pool[] = [];
  const open = (role: Mode, connectionsMax: number, settings: PoolSettings): Pool => {
    const opened = createPool({ url, role, connectionsMax, log, emails, ...settings });
    pools.push(opened);
    return opened;
  };
  return {
    /** One connection for each kind of batched statement. A second one would only split the batches and wait on locks. */
    openTurns: () => markStatements(open('live', 1, { ...KEPT, keepsConnection: true, use: 'calls' })),
    rates: open('live', 1, { ...KEPT, keepsConnection: true, use: 'rates' }),
    sandbox: open('sandbox', 1, { ...KEPT, use: 'sandbox' }),
    reads: open('live', READS_MAX, { ...KEPT, use: 'reads' }),
    upkeep: open('live', UPKEEP_MAX, { use: 'upkeep' }),
    planes: open('live', PLANES_MAX, { use: 'planes' }),
    /** Reports may take long, so nothing else waits for them. */
    reports: open('live', REPORTS_MAX, { statementMsMax: REPORT_STATEMENT_MS_MAX, use: 'reports' }),
    /**
     * A check of the ledger may read for a minute. Its connections have a name, so that an operator can tell its work in the
     * database from that of calls. The check of every minute does not wait for one that an operator asked for.
     */
    watch: open('live', 1, { statementMsMax: CHECK_STATEMENT_MS_MAX, name: 'check', use: 'check' }),
    check: open('live', 1, { statementMsMax: CHECK_STATEMENT_MS_MAX, name: 'check', use: 'check' }),
    stats: open('live', 1, { name: 'stats', use: 'stats' }),
    end: () => Promise.all(pools.map((pool) => pool.end())),
  };
}

export type Pools = ReturnType<typeof openPools>;
