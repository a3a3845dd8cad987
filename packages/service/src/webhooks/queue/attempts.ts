import { RETRY_DELAYS_SECONDS } from '@purser/contract/webhooks.ts';
import { inTransaction, type Pool, type Queryable } from '#db/pool/pool.ts';
import type { AppId } from '#kernel/values/ids.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { sleep } from '#kernel/time/sleep.ts';
import type { Courier } from '#webhooks/delivery/deliver.ts';
import { attemptsEnded } from '#webhooks/queue/metrics.ts';
import { type ClaimedRow, recordAttempt } from '#webhooks/queue/queries.ts';
import type { SigningSecrets } from '#webhooks/delivery/signing-secret.ts';
import { dropAllStale } from '#webhooks/queue/upkeep.ts';

export interface AttemptsOptions {
  /** The worker's own pool, so that no delivery keeps a call waiting for a database connection. */
  readonly pool: Pool;
  readonly courier: Courier;
  readonly secrets: SigningSecrets;
  readonly tellOwner: TellOwner;
  readonly log: Log;
}

/** Puts a mail to the app's owner into the outbox: an event was dropped, or the subscription is disabled (WH-12). */
export type TellOwner = (
  tx: Queryable,
  trouble: { readonly appId: AppId; readonly eventId: string; readonly isDisabled: boolean },
) => Promise<void>;

/** The attempts that this process has in progress. */
interface Attempts {
  /** Starts an attempt and returns at once. Its outcome is recorded, or the claim's lease runs out. */
  readonly begin: (event: ClaimedRow, claim: string) => void;
  /** Returns a claimed event without an attempt. */
  readonly giveBack: (event: ClaimedRow, claim: string) => void;
  /** The ids of the events. */
  readonly underWay: () => readonly string[];
  /** Ends an attempt as if it had not been made: it uses up no attempt number. */
  readonly giveUp: (eventId: string) => void;
  /** Resolves when the attempts in progress now have ended. */
  readonly whenEnded: () => Promise<void>;
}

type EndedAttempt = Parameters<typeof recordAttempt>[1];

/** How often an outcome is recorded before its attempt is left to the lease, which then repeats it. */
const RECORD_TRIES_MAX = 5;
const RECORD_AGAIN_MS = 500;

export function createAttempts({ pool, courier, secrets, tellOwner, log }: AttemptsOptions): Attempts {
  const recordLast = createRecordLast(pool, tellOwner);
  const running = new Map<string, { readonly ended: Promise<void>; readonly giveUp: () => void }>();
  const warned = new Set<AppId>();

  async function run(event: ClaimedRow, claim: string, signal: AbortSignal): Promise<void> {
    const { event_id: eventId, app_id: appId, type, body, attempt, endpoint_url: endpointUrl } = event;
    const secret = secrets.open(appId, event.sealed_secret);
    if (secret === undefined) {
      // Given back uncounted: another process may have the right PURSER_SECRET, or the owner makes a new signing secret.
      if (!warned.has(appId))
        log.warn({ appId }, 'the secret of a webhook cannot be opened: has PURSER_SECRET changed?');
      warned.add(appId);
      await record(event, { eventId, claim, outcome: undefined, reason: 'secret_unreadable' });
      return;
    }
    const outcome = await courier.deliver({ eventId, type, body, attempt, endpointUrl, secret }, signal);
    await record(event, { eventId, claim, outcome });
  }

  function follow(eventId: string, work: (signal: AbortSignal) => Promise<void>): void {
    const controller = new AbortController();
    const ended = work(controller.signal)
      .catch((fault: unknown) => log.warn({ fault: describeFault(fault) }, 'an attempt could not be recorded'))
      .finally(() => {
        // If the lease ran out meanwhile, the entry may already belong to a newer attempt.
        if (running.get(eventId) === own) running.delete(eventId);
      });
    const own = { ended, giveUp: () => controller.abort() };
    running.set(eventId, own);
  }

  async function record(event: ClaimedRow, ended: EndedAttempt): Promise<void> {
    const isLast = ended.outcome !== undefined && event.attempt > RETRY_DELAYS_SECONDS.length;
    for (let tries = 1; ; tries += 1) {
      try {
        const result = await (isLast ? recordLast(event.app_id, ended) : recordAttempt(pool, ended));
        attemptsEnded.of({ result: result === 'first_drop' ? 'dropped' : result }).add();
        if (result === 'disabled') await dropAllStale(pool); // What waited for this endpoint is never sent.
        return;
      } catch (fault) {
        // The lease will run out, and the same attempt is made again under the same number: at least once (WH-13).
        if (tries === RECORD_TRIES_MAX) throw fault;
        await sleep(RECORD_AGAIN_MS);
      }
    }
  }

  return {
    begin: (event, claim) => follow(event.event_id, (signal) => run(event, claim, signal)),
    giveBack: (event, claim) => {
      const { event_id: eventId } = event;
      follow(eventId, () => record(event, { eventId, claim, outcome: undefined }));
    },
    underWay: () => [...running.keys()],
    giveUp: (eventId) => running.get(eventId)?.giveUp(),
    whenEnded: async () => {
      await Promise.all(Array.from(running.values(), ({ ended }) => ended));
    },
  };
}

/** Records an event's last attempt together with the mail to the owner, if one is due: neither is stored without the other. */
function createRecordLast(pool: Pool, tellOwner: TellOwner) {
  return (appId: AppId, ended: EndedAttempt): ReturnType<typeof recordAttempt> =>
    inTransaction(pool, async (tx) => {
      const result = await recordAttempt(tx, ended);
      if (result === 'first_drop' || result === 'disabled') {
        await tellOwner(tx, { appId, eventId: ended.eventId, isDisabled: result === 'disabled' });
      }
      return result;
    });
}
