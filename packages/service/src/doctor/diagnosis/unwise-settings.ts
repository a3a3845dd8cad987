import { availableParallelism } from 'node:os';
import type { LogLevel } from '#kernel/log.ts';

/** The settings that are judged here. */
export interface JudgedSettings {
  readonly environment: 'development' | 'production';
  readonly logLevel: LogLevel;
  readonly showsErrorTexts: boolean;
  readonly workers: number;
  readonly settings: readonly { readonly name: string; readonly isSet: boolean }[];
}

const WORKERS_PER_PROCESSOR_MAX = 2;

/** Settings that are allowed and that few want in production, each with the reason. Never a value that may be a secret. */
export function unwiseSettingsOf({
  environment,
  logLevel,
  showsErrorTexts,
  workers,
  settings,
}: JudgedSettings): readonly string[] {
  const isPublic = settings.some(({ name, isSet }) => name === 'PURSER_ALLOW_PUBLIC_DEVELOPMENT' && isSet);
  const processors = availableParallelism();
  if (environment !== 'production') {
    if (!isPublic) return [];
    return ['PURSER_ALLOW_PUBLIC_DEVELOPMENT lets other machines reach known accounts and test cards that pay.'];
  }
  return [
    ...(logLevel === 'silent' ? ['PURSER_LOG_LEVEL=silent hides every fault.'] : []),
    ...(logLevel === 'debug' ? ['PURSER_LOG_LEVEL=debug fills the disk.'] : []),
    ...(showsErrorTexts ? ['PURSER_LOG_PROVIDER_ERRORS=1 logs what providers say. Set it for a while only.'] : []),
    ...(workers > processors * WORKERS_PER_PROCESSOR_MAX
      ? [`PURSER_WORKERS is ${workers}, and this machine has ${processors} processors.`]
      : []),
  ];
}
