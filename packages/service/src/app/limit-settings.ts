import type { AppLimits } from '#accounts/key-directory.ts';
import type { SettingsReader } from '#app/settings.ts';
import type { PaceRate } from '#limits/pace.ts';

export interface LimitSettings {
  /** The limits of apps that have none of their own. */
  readonly appLimits: AppLimits;
  /** How fast one account may use the control and operator planes of one gateway process. */
  readonly accountPace: PaceRate;
}

const COUNT = { least: 1, most: 1_000_000 };

/** How fast callers may be. */
export function readLimits(settings: SettingsReader): LimitSettings {
  return {
    appLimits: {
      ratePerMinute: settings.whole('PURSER_RATE_PER_MINUTE', COUNT, 600),
      rateBurst: settings.whole('PURSER_RATE_BURST', COUNT, 100),
      maxStreamsPerUser: settings.whole('PURSER_MAX_STREAMS_PER_USER', COUNT, 4),
    },
    accountPace: {
      ratePerMinute: settings.whole('PURSER_ACCOUNT_RATE_PER_MINUTE', COUNT, 1_200),
      rateBurst: settings.whole('PURSER_ACCOUNT_RATE_BURST', COUNT, 200),
    },
  };
}
