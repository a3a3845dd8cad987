import type { CallLimits } from '#developers/keys/directory.ts';
import type { SettingsReader } from '#app/environment/settings-reader.ts';
import type { PaceRate } from '#limits/pace.ts';

export interface LimitSettings {
  /** The limits of apps that have none of their own. */
  readonly appLimits: CallLimits;
  /** How fast one account may use the control and operator planes of one gateway process. */
  readonly accountPace: PaceRate;
  /** The most bytes of the body of a call, except on chat completions, where it is 1 MiB (CC-06). */
  readonly callBodyBytesMax: number;
}

const MIB = 1_048_576;
/** Agents send their whole conversation with each call. The bodies that arrive at a time are bounded apart from this. */
const BODY_BYTES = { least: 65_536, most: 24 * MIB };
const COUNT = { least: 1, most: 1_000_000 };

/** How fast callers may be. */
export function readLimits(settings: SettingsReader): LimitSettings {
  return {
    appLimits: {
      ratePerMinute: settings.whole('PURSER_RATE_PER_MINUTE', COUNT, 600),
      rateBurst: settings.whole('PURSER_RATE_BURST', COUNT, 100),
      maxStreamsPerUser: settings.whole('PURSER_MAX_STREAMS_PER_USER', COUNT, 4),
      maxCallsPerUser: settings.whole('PURSER_MAX_CALLS_PER_USER', COUNT, 16),
      maxCallsPerApp: settings.whole('PURSER_MAX_CALLS_PER_APP', COUNT, 1_000),
    },
    callBodyBytesMax: settings.whole('PURSER_CALL_BODY_BYTES_MAX', BODY_BYTES, 8 * MIB),
    accountPace: {
      ratePerMinute: settings.whole('PURSER_ACCOUNT_RATE_PER_MINUTE', COUNT, 1_200),
      rateBurst: settings.whole('PURSER_ACCOUNT_RATE_BURST', COUNT, 200),
    },
  };
}
