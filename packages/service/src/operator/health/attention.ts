import { FINDING_KINDS } from '@purser/contract/operator-overview.ts';
import { selectOperatorsWithoutFactor } from '#developers/operators/queries.ts';
import type { Pool } from '#db/pool/pool.ts';
import type { Clock } from '#kernel/time/clock.ts';
import { microsSumFromRow } from '#kernel/values/micros.ts';
import { selectLedgerAttention } from '#ledger/overview/attention-queries.ts';
import { countWaiting } from '#operator/acts/queries.ts';
import { selectPaymentsAttention } from '#payments/overview/attention-queries.ts';
import { selectWebhooksAttention } from '#webhooks/history/attention-queries.ts';

type FindingKind = (typeof FINDING_KINDS)[number];

/** Something that a person has to look at. */
export interface Finding {
  readonly kind: FindingKind;
  /** How many things it is about: payments, wallets, calls and so on. At most 1,000 are counted. */
  readonly count: number;
  /** Which they are, as far as a few names say it: ids of apps or accounts, names of upstreams. */
  readonly of: readonly string[];
  /** What people call each of them: the mail address of an account. Undefined if it has no other name than its id. */
  readonly names: readonly (string | undefined)[];
}

/** The state of the service at this moment, for operators. */
export type Attention = Awaited<ReturnType<ReturnType<typeof createAttention>>>;

interface AttentionOptions {
  readonly pool: Pool;
  readonly clock: Clock;
  /** The upstreams as this process sees them. */
  readonly readUpstreams: () => readonly {
    readonly provider: string;
    readonly providerModel: string;
    readonly state: 'closed' | 'open' | 'testing';
  }[];
}

const COUNTED_MAX = 1_000;
const NAMED_MAX = 20;
/** The check runs every minute. A pass over many wallets may take longer. */
const CHECK_AGE_MS_MAX = 300_000;

/** Reads what needs a person, in five statements. Nothing of it reads calls or receipts. */
export function createAttention({ pool, clock, readUpstreams }: AttentionOptions) {
  const startedMs = clock.nowMs();
  return async () => {
    const [ledger, payments, webhooks, operators, waiting] = await Promise.all([
      selectLedgerAttention(pool, COUNTED_MAX),
      selectPaymentsAttention(pool, COUNTED_MAX),
      selectWebhooksAttention(pool, COUNTED_MAX),
      selectOperatorsWithoutFactor(pool, NAMED_MAX),
      countWaiting(pool, COUNTED_MAX),
    ]);
    const open = readUpstreams().filter(({ state }) => state !== 'closed');
    const checkedAtMs = ledger.checked_seconds === 0 ? undefined : ledger.checked_seconds * 1_000;
    const differences = Number(ledger.differences);
    const isOld = clock.nowMs() - (checkedAtMs ?? startedMs) > CHECK_AGE_MS_MAX;
    const found: Readonly<Record<FindingKind, Omit<Finding, 'kind'>>> = {
      'ledger-wrong': some(differences),
      'ledger-check-old': some(isOld ? 1 : 0),
      'payments-kept': some(payments.kept),
      'disputes-open': some(payments.open_disputes),
      'refunds-late': some(payments.late_refunds),
      'acts-waiting': some(waiting),
      'money-held-long': some(ledger.old_calls),
      'upstream-open': named(open.map(({ provider, providerModel }) => `${provider} ${providerModel}`)),
      'wallets-suspended': some(ledger.newly_suspended),
      'webhooks-disabled': named(webhooks.disabled),
      'webhooks-late': some(webhooks.late),
      'operators-without-second-factor': named(
        operators.map((one) => one.account_id),
        operators.map((one) => one.email),
      ),
    };
    return {
      /** The most urgent first. Empty if nothing needs a person. */
      findings: FINDING_KINDS.map((kind) => ({ kind, ...found[kind] })).filter(({ count }) => count > 0),
      /** The last check of the ledger by the service itself, every minute. Undefined before the first. */
      books: { checkedAtMs, differences },
      /** The money that calls hold now. */
      held: { amount: microsSumFromRow(ledger.held_micros), calls: ledger.held_calls },
      /** Events of the last 24 hours, the newest thousand, and those that wait. */
      deliveries: { delivered: webhooks.delivered, dropped: webhooks.dropped, waiting: webhooks.waiting },
    };
  };
}

function some(count: number): Omit<Finding, 'kind'> {
  return { count, of: [], names: [] };
}

function named(of: readonly string[], names: readonly string[] = []): Omit<Finding, 'kind'> {
  return { count: of.length, of: of.slice(0, NAMED_MAX), names: of.slice(0, NAMED_MAX).map((_, at) => names[at]) };
}
