import { writeSync } from 'node:fs';

/**
 * The moments of a call's way at which its process can be made to die or to stand still: one before and one after
 * everything that it waits for. `npm run prove` goes through all of them; unless one is armed, they do nothing.
 */
export const FAILPOINTS = [
  'chat.arrived',
  'chat.body-read',
  'chat.answer-wanted',
  'chat.answer-known',
  'chat.plain-sent',
  'chat.stream-head-sent',
  'chat.stream-sent',
  'chat.write-full',
  'chat.write-drained',
  'pipeline.begun',
  'pipeline.admitted',
  'pipeline.validated',
  'admission.key-asked',
  'admission.key-known',
  'admission.token-asked',
  'admission.token-taken',
  'lane.hold-wanted',
  'lane.placing',
  'lane.placed',
  'lane.held',
  'lane.provider-wanted',
  'lane.provider-answered',
  'lane.provider-failed',
  'lane.failure-settled',
  'lane.settling',
  'lane.settled',
  'lane.ending',
  'lane.ended',
  'stream.opening',
  'stream.opened',
  'stream.first-chunk',
  'stream.awaited',
  'stream.status-known',
  'stream.open-failed',
  'stream.open-failure-settled',
  'stream.unsent',
  'stream.unsent-settled',
  'stream.relaying',
  'stream.first-awaited',
  'stream.begun',
  'stream.first-passed',
  'stream.all-passed',
  'stream.pumped',
  'stream.settled',
  'stream.closed',
  'stream.failed',
  'stream.failure-settled',
  'stream.failure-told',
  'stream.failure-ending',
  'stream.failure-ended',
  'stream.chunk-taken',
  'stream.chunk-sent',
  'stream.chunk-drained',
  'stream.chunk-read',
  'hold.place-queued',
  'hold.place-answered',
  'hold.settle-queued',
  'hold.settle-answered',
  'hold.spooling',
  'hold.spooled',
  'hold.release-queued',
  'hold.release-answered',
  'hold.reserve-wanted',
  'hold.fitting-wanted',
  'hold.fitted',
  'hold.judged',
  'hold.reserved',
  'hold.settle-wanted',
  'hold.covered-wanted',
  'hold.covered',
  'hold.all-settled',
  'hold.settle-done',
  'instance.statement-wanted',
  'instance.statement-done',
  'instance.fenced',
  'instance.replaced',
  'instance.repeated',
] as const;

type Failpoint = (typeof FAILPOINTS)[number];

/** What to do the nth time that a moment is reached. */
export interface ArmedFailpoint {
  readonly name: Failpoint;
  readonly hit: number;
  /** `kill`: the process dies at once, as when out of memory. `stop`: it stands still until it is sent SIGCONT. */
  readonly act: 'kill' | 'stop';
}

let armed: { readonly point: ArmedFailpoint; hits: number } | undefined;

const STDERR = 2;

/** Arms one failpoint in this process. Never in production: see app/config.ts. */
export function armFailpoint(point: ArmedFailpoint): void {
  armed = { point, hits: 0 };
}

/** Marks a moment. Costs one comparison. */
export function failpoint(name: Failpoint): void {
  if (armed !== undefined) reach(name);
}

function reach(name: Failpoint): void {
  if (armed?.point.name !== name) return;
  armed.hits += 1;
  const { point, hits } = armed;
  if (hits !== point.hit) return;
  writeSync(STDERR, `failpoint ${name}: ${point.act}\n`); // Not by the log, which may write when it is too late.
  process.kill(process.pid, point.act === 'kill' ? 'SIGKILL' : 'SIGSTOP');
}
