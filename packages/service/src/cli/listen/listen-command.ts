import { setTimeout as sleep } from 'node:timers/promises';
import type { copiesSchema } from '@purser/contract/webhooks.ts';
import { CommandError } from '#cli/terminal/command-error.ts';
import { type ListenWords, readListenOptions, readToken } from '#cli/listen/listen-options.ts';
import { untilStopSignal } from '#cli/terminal/stop-signal.ts';
import { createListenerClient, type ListenerClient } from '#cli/listen/listener-client.ts';
import { systemClock } from '#kernel/time/clock.ts';
import { type Courier, createCourier } from '#webhooks/delivery/deliver.ts';
import { createLoopbackGuard } from '#webhooks/delivery/loopback-guard.ts';
import { newSigningSecret } from '#webhooks/delivery/signing-secret.ts';

/** One event as the service hands it to a listener. It is a copy: handing it out delivers nothing. */
type Copy = ReturnType<typeof copiesSchema.parse>['events'][number];

/** What the polling loop works with. */
interface Listening {
  readonly client: ListenerClient;
  readonly forward: (copy: Copy) => Promise<void>;
  readonly signal: AbortSignal;
}

const AGAIN_MS = 1_000;

/**
 * Forwards an app's events to an address on this machine until it is told to stop. Each event is sent once, signed like a
 * real delivery, so that the developer's receiver can check signatures.
 */
export async function listen(words: ListenWords): Promise<number> {
  const options = await readListenOptions(words);
  const client = createListenerClient(options, await readToken());
  const courier = createCourier({ guard: createLoopbackGuard(), clock: systemClock });
  const secret = newSigningSecret();
  const told = new AbortController();
  void untilStopSignal().then(() => told.abort());
  try {
    const listenerId = await client.listen();
    console.log(`Forwarding events of ${options.appId} to ${options.forwardTo}: ${options.wanted.events.join(', ')}.`);
    console.log(`Signing secret until this command ends: ${secret}`);
    const forward = (copy: Copy) => forwardBy(courier, { copy, secret, endpointUrl: options.forwardTo }, told.signal);
    await follow(listenerId, { client, forward, signal: told.signal });
    return 0;
  } catch (fault) {
    if (fault instanceof CommandError) throw fault;
    throw new CommandError(
      `The service does not answer at ${options.serviceUrl}. Check that it is running and that --url (or PURSER_URL) is right.`,
      { cause: fault },
    );
  } finally {
    await Promise.all([client.close(), courier.close()]);
  }
}

/** Polls for events, also through outages of the service, and signs off when it is told to stop. */
async function follow(first: string, { client, forward, signal }: Listening): Promise<void> {
  let listenerId = first;
  let after: string | undefined;
  let isAway = false;
  while (!signal.aborted) {
    try {
      const copies = await client.look(listenerId, after, signal);
      if (isAway) console.error('The service is back.');
      isAway = false;
      if (copies === undefined) {
        listenerId = await client.listen();
        after = undefined;
        console.error('The listener had expired and was registered again. Events in between, if any, are not shown.');
      } else {
        for (const copy of copies.events) await forward(copy);
        after = copies.next ?? after;
      }
    } catch (fault) {
      if (fault instanceof CommandError) throw fault;
      if (signal.aborted) break;
      if (!isAway) console.error('The service does not answer. Trying again every second.');
      isAway = true;
      await sleep(AGAIN_MS, undefined, { signal }).catch(() => {});
    }
  }
  await client.leave(listenerId).catch(() => {}); // A failure does no harm: the listener soon expires by itself.
}

/** Sends one event and prints its outcome. The event is not sent again if the receiver fails: a copy is for looking at. */
async function forwardBy(
  courier: Courier,
  { copy, secret, endpointUrl }: { readonly copy: Copy; readonly secret: string; readonly endpointUrl: string },
  signal: AbortSignal,
): Promise<void> {
  const { eventId, type, body } = copy;
  const delivery = { eventId, type, body: Buffer.from(body, 'utf8'), attempt: 1, endpointUrl, secret };
  const outcome = await courier.deliver(delivery, signal);
  if (outcome !== undefined) console.log(`${eventId} ${type} ${outcome.status ?? outcome.error}`);
}
