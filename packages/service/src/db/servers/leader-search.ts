import type { DatabaseAddress, Host } from '#db/servers/hosts.ts';
import type { Leader, openProbe, Standing } from '#db/servers/probe.ts';
import { sleep } from '#kernel/time/sleep.ts';

interface Answers {
  /** The servers that claim to lead. */
  readonly claims: readonly Leader[];
  /** The ids of the clusters of all that answered: one, unless the hosts are not copies of one another. */
  readonly systems: ReadonlySet<string>;
}

interface SearchOptions {
  /** A server on an earlier timeline makes no claim: it was succeeded. */
  readonly timelineMin: number;
  /** The id of the cluster. A server of another one makes no claim. It is undefined as long as it is not known. */
  readonly systemId: string | undefined;
  readonly open: typeof openProbe;
}

/** How long a search waits for a better claim than the first, because two servers may both claim to lead. */
const GRACE_MS = 250;
/** A standby may be promoted while a search still waits for a frozen server. */
const AGAIN_MS = 200;

/**
 * Asks all servers side by side. Ends when each has answered or failed, or soon after one has claimed to lead.
 */
export async function askAll(
  { hosts, url }: Pick<DatabaseAddress, 'hosts' | 'url'>,
  { timelineMin, systemId: wanted, open }: SearchOptions,
): Promise<Answers> {
  const claims = new Map<Host, Leader>();
  const systems = new Set<string>();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  let silent = hosts.length;

  function note(host: Host, { systemId, timeline }: Standing): void {
    systems.add(systemId);
    if (timeline < timelineMin || (wanted !== undefined && systemId !== wanted)) return;
    claims.set(host, { host, timeline });
    setTimeout(end, GRACE_MS);
  }

  async function ask(host: Host, answered: () => void): Promise<void> {
    const probe = await open(url, host);
    try {
      for (;;) {
        note(host, await probe.ask());
        answered();
        if (silent === 0 || claims.size > 0) return;
        await sleep(AGAIN_MS, { ref: false });
      }
    } finally {
      probe.close();
    }
  }

  for (const host of hosts) {
    let isCounted = false;
    const answered = (): void => {
      if (isCounted) return;
      isCounted = true;
      silent -= 1;
      if (silent === 0) end();
    };
    void ask(host, answered).then(answered, answered);
  }
  await over;
  return { claims: [...claims.values()], systems };
}
