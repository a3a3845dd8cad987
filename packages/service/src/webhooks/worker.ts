import { randomUUID } from 'node:crypto';
import type { Pool } from '#db/pool.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/repeat.ts';
import { type AttemptsOptions, createAttempts } from '#webhooks/attempts.ts';
import { claimEvents, dropListeners, selectOutdated } from '#webhooks/queries.ts';
import { dropAllStale, sweepAllEnded } from '#webhooks/upkeep.ts';

export interface WebhookWorker {
  /** Takes no more events, and lets the attempts under way end: 5 s at most. */
  readonly stop: () => Promise<void>;
}

const CLAIM_PERIOD_MS = 250;
/** How soon an attempt ends whose endpoint or secret has been replaced. */
const LOOK_PERIOD_MS = 100;
const LISTENERS_PERIOD_MS = 10_000;
const UPKEEP_PERIOD_MS = 60_000;
/** Attempts under way at once, in one process. */
const SLOTS = 1_024;
/** Of them, those that are for the first attempt of an endpoint alone. */
const SLOTS_RESERVED = 256;
/** Longer than any attempt and its record: what is older is of a worker that died. */
const LEASE_MS = 15_000;

/** Delivers the events of every app; as many of these as there are processes work side by side (WH-11, WH-13). */
export function startWebhookWorker(options: AttemptsOptions): WebhookWorker {
  const { pool, courier, log } = options;
  const attempts = createAttempts(options);

  /** True when there may be more. */
  async function claimDue(): Promise<boolean> {
    const most = SLOTS - attempts.underWay().length;
    if (most <= 0) return false;
    const id = randomUUID();
    const events = await claimEvents(pool, { id, most, reserved: SLOTS_RESERVED, leaseMs: LEASE_MS });
    // What was replaced while the claim was on its way had nobody to wait for it: it is looked at once more, now that it is there.
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
    inTurns(upkeep(sweepAllEnded), UPKEEP_PERIOD_MS, log),
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

/** Work in turns, and at once again while it says that there is more. A fault is logged, and the next turn comes. */
function inTurns(work: () => Promise<boolean>, periodMs: number, log: Log): { readonly stop: () => Promise<void> } {
  const state = { isStopping: false };

  async function turn(): Promise<void> {
    try {
      while (await work()) if (state.isStopping) return;
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'webhooks could not be looked after');
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
