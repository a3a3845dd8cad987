import { randomUUID } from 'node:crypto';
import type { Pool } from '#db/pool/pool.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/time/repeat.ts';
import { type AttemptsOptions, createAttempts } from '#webhooks/queue/attempts.ts';
import { dropListeners } from '#webhooks/listeners/queries.ts';
import { claimEvents, selectOutdated } from '#webhooks/queue/queries.ts';
import { dropAllStale, sweepAllEnded } from '#webhooks/queue/upkeep.ts';

/** The delivery loop of one process. */
export interface WebhookWorker {
  /** Claims no more events and waits for the attempts in progress, which takes 5 s at most. */
  readonly stop: () => Promise<void>;
}

interface WorkerOptions extends AttemptsOptions {
  /** After this many days an ended event is deleted. With 0 it never is. */
  readonly keptDays: number;
}

const CLAIM_PERIOD_MS = 250;
/** How soon an attempt ends after its endpoint or secret was replaced. The owner's `PUT` waits for that. */
const LOOK_PERIOD_MS = 100;
const LISTENERS_PERIOD_MS = 10_000;
const UPKEEP_PERIOD_MS = 60_000;
/** Attempts in progress at once, in one process. */
const SLOTS = 1_024;
/** Slots that only the first attempt of an endpoint may use, so that endpoints which hang cannot take them all. */
const SLOTS_RESERVED = 256;
/** The lease is longer than any attempt and its record. A claim that is older belongs to a worker that died. */
const LEASE_MS = 15_000;

/**
 * Delivers the events of every app (WH-11, WH-13). Each process runs one worker. They share the work through claims in the
 * database and need no leader: if one dies, the others make its attempts when the leases run out.
 */
export function startWebhookWorker(options: WorkerOptions): WebhookWorker {
  const { pool, courier, log, keptDays } = options;
  const attempts = createAttempts(options);

  /** Claims due events and begins their attempts. Returns true if there may be more. */
  async function claimDue(): Promise<boolean> {
    const most = SLOTS - attempts.underWay().length;
    if (most <= 0) return false;
    const id = randomUUID();
    const events = await claimEvents(pool, { id, most, reserved: SLOTS_RESERVED, leaseMs: LEASE_MS });
    // An endpoint or secret may be replaced while the claim is on its way. The owner's request did not see these attempts
    // and has not waited for them, so they are checked once more before anything is sent.
    const outdated = new Set(
      events.length === 0
        ? []
        : await selectOutdated(
            pool,
            events.map(({ event_id: eventId }) => eventId),
          ),
    );
    for (const event of events) {
      if (outdated.has(event.event_id)) attempts.giveBack(event, id);
      else attempts.begin(event, id);
    }
    return events.length > outdated.size;
  }

  /** Ends attempts whose endpoint or secret was replaced, as if they had not been made. */
  async function giveUpOutdated(): Promise<boolean> {
    const underWay = attempts.underWay();
    if (underWay.length > 0) for (const eventId of await selectOutdated(pool, underWay)) attempts.giveUp(eventId);
    return false;
  }

  const upkeep = (work: (of: Pool) => Promise<unknown>) => async (): Promise<boolean> => {
    await work(pool);
    return false;
  };

  const claiming = inTurns(claimDue, CLAIM_PERIOD_MS, log);
  const others = [
    inTurns(giveUpOutdated, LOOK_PERIOD_MS, log),
    inTurns(upkeep(dropListeners), LISTENERS_PERIOD_MS, log),
    inTurns(upkeep(dropAllStale), UPKEEP_PERIOD_MS, log),
    inTurns(
      upkeep((of) => sweepAllEnded(of, keptDays)),
      UPKEEP_PERIOD_MS,
      log,
    ),
  ];
  return {
    stop: async () => {
      await claiming.stop();
      await attempts.whenEnded();
      await Promise.all(others.map(({ stop }) => stop()));
      await courier.close();
    },
  };
}

/** Runs `work` every `periodMs`, and again at once while it returns true. A fault is logged and the next turn tries again. */
function inTurns(work: () => Promise<boolean>, periodMs: number, log: Log): { readonly stop: () => Promise<void> } {
  const state = { isStopping: false };

  async function turn(): Promise<void> {
    try {
      while (await work()) if (state.isStopping) return;
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'a task of the webhook worker failed and will run again');
    }
  }

  const turns = repeat(turn, periodMs);
  return {
    stop: () => {
      state.isStopping = true;
      return turns.stop();
    },
  };
}
