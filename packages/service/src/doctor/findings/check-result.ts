/** What a check found. */
export interface CheckResult {
  readonly level: 'good' | 'warn' | 'bad';
  readonly what: string;
  /** What to do, if there is something better than what usually helps. */
  readonly remedy?: string;
}

export const good = (what: string): CheckResult => ({ level: 'good', what });
export const warn = (what: string, remedy?: string): CheckResult => resultOf('warn', what, remedy);
export const bad = (what: string, remedy?: string): CheckResult => resultOf('bad', what, remedy);

function resultOf(level: 'warn' | 'bad', what: string, remedy: string | undefined): CheckResult {
  return remedy === undefined ? { level, what } : { level, what, remedy };
}

/** The shortest name of a fault: its code, or its class. Messages of libraries may repeat what was sent. */
export function faultName(fault: unknown): string {
  const cause = fault instanceof Error && fault.cause instanceof Error ? fault.cause : fault;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return cause instanceof Error ? cause.name : 'unknown fault';
}
