import type { SettingsReader } from '#app/environment/settings-reader.ts';

/** How a gateway process stops. */
export interface StopSettings {
  /**
   * How long it goes on serving after it was told to stop, while `/readyz` is 503 and each answer ends its connection. Proxies
   * need that long to notice.
   */
  readonly stopDelayMs: number;
  /** How long running calls may then continue. */
  readonly stopCallsMs: number;
}

const DELAY_SECONDS = { least: 0, most: 60 };
/** The sample of nginx closes connections to a gateway that it has not used for 4 s, and Caddy's asks every second. */
const DELAY_SECONDS_IN_PRODUCTION = 5;
const CALLS_SECONDS = { least: 1, most: 900 };

/** Reads how long a stop may take. A development service has no proxy in front, and a person who waits for it. */
export function readStop(settings: SettingsReader, environment: string): StopSettings {
  const delay = environment === 'production' ? DELAY_SECONDS_IN_PRODUCTION : 0;
  return {
    stopDelayMs: settings.whole('PURSER_STOP_DELAY_SECONDS', DELAY_SECONDS, delay) * 1_000,
    stopCallsMs: settings.whole('PURSER_STOP_CALLS_SECONDS', CALLS_SECONDS, 30) * 1_000,
  };
}
