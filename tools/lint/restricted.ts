/** A global, or one property of it, that only some places may use. */
export interface Restricted {
  readonly name: string;
  readonly property?: string;
  /** Areas or files as `tools/structure/areas.ts` names them. Tests, tools and benchmarks are always allowed. */
  readonly allowed: string;
  readonly instead: string;
}

const CLOCK = 'Take a `Clock` (kernel/time/clock.ts).';
const SETTINGS = 'Read the setting in app/settings/config.ts and hand its typed value down.';

/**
 * These are time, chance, environment, network and output: what a test must be able to replace, or an operator to find.
 */
export const RESTRICTED: readonly Restricted[] = [
  {
    name: 'process',
    property: 'env',
    allowed: 'app/settings/config.ts examples/chat/settings.ts',
    instead: SETTINGS,
  },
  { name: 'globalThis', property: 'process', allowed: '', instead: 'Write `process`, so that its uses can be found.' },
  { name: 'Date', allowed: 'kernel/time/clock.ts simulator/answer.ts sdk/webhooks.ts', instead: CLOCK },
  { name: 'performance', allowed: 'kernel/time/clock.ts', instead: CLOCK },
  {
    name: 'Math',
    property: 'random',
    allowed: 'kernel/crypto/random.ts',
    instead: "Use kernel/crypto/random.ts, which draws from the operating system's generator.",
  },
  {
    name: 'fetch',
    allowed: 'examples/chat/demo.ts sdk/client.ts',
    instead: 'Call out through a port that has a deadline and a limit.',
  },
  { name: 'console', allowed: 'cli app/start/banner.ts examples', instead: 'Log with a `Log` (kernel/log.ts).' },
];
