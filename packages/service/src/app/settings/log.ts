import type { SettingsReader } from '#app/environment/settings-reader.ts';
import type { LogLevel } from '#kernel/log.ts';

/** What is logged, and how it looks. */
export interface LogSettings {
  readonly logLevel: LogLevel;
  /** `text` is for the person at the terminal, with a line for every request. `json` is for programs. */
  readonly logFormat: 'json' | 'text';
  /** Of this many answered calls, one has a line. Calls that were not answered always have one. */
  readonly logOneIn: number;
}

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const satisfies readonly LogLevel[];
const FORMATS = ['auto', 'json', 'text'] as const;
/** At a thousand calls a second, there is still a line every ten seconds. */
const ONE_IN_MAX = 10_000;

/**
 * With `auto`, somebody who develops at a terminal gets text. In production the log is read by programs, wherever it
 * goes.
 */
export function readLogSettings(
  settings: SettingsReader,
  of: { readonly environment: 'development' | 'production'; readonly isTerminal: boolean },
): LogSettings {
  const format = settings.choice('PURSER_LOG_FORMAT', FORMATS, 'auto');
  const usual = of.environment === 'development' && of.isTerminal ? 'text' : 'json';
  return {
    logLevel: settings.choice<LogLevel>('PURSER_LOG_LEVEL', LEVELS, 'info'),
    logFormat: format === 'auto' ? usual : format,
    logOneIn: settings.whole('PURSER_LOG_ONE_IN', { least: 1, most: ONE_IN_MAX }, 1),
  };
}
