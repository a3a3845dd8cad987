import { ERROR_TEXTS, WEBHOOKS_TEXTS as TEXTS } from '#web/console/webhooks/texts.ts';

interface Ended {
  readonly status: number | null | undefined;
  readonly error: string | null | undefined;
  readonly durationMs: number;
}

/** How an attempt ended, in a few words. */
export function wordsOf({ status, error, durationMs }: Ended): string {
  if (typeof status === 'number') return TEXTS.status2xx(status, durationMs);
  return TEXTS.noStatus(ERROR_TEXTS[error as keyof typeof ERROR_TEXTS] ?? error ?? '', durationMs);
}

export function isTaken(status: number | null | undefined): boolean {
  return typeof status === 'number' && status >= 200 && status < 300;
}
