import type { Exception, RuleName } from './rule-set.ts';

/** Something that is not as the house wants it. */
export interface Finding {
  readonly rule: RuleName;
  readonly file: string;
  readonly line: number;
  /** What is wrong and what to do instead, in full sentences. */
  readonly message: string;
  /** What the finding is about within its file: a function, an export, a module, a word. */
  readonly name?: string;
}

export function formatFinding({ rule, file, line, message }: Finding): string {
  return `${file}:${line}: ${message} [${rule}]`;
}

/** Takes away the findings that an exception accepts, and adds one for each exception that is needless or unexplained. */
export function applyExceptions(
  findings: readonly Finding[],
  exceptions: readonly Exception[],
  rulesFile: string,
): readonly Finding[] {
  const remaining = findings.filter((finding) => !exceptions.some((exception) => covers(exception, finding)));
  const stale = exceptions.filter((exception) => !findings.some((finding) => covers(exception, finding)));
  const bare = exceptions.filter(({ reason }) => reason.length < REASON_LENGTH_MIN);
  return [
    ...remaining,
    ...stale.map((exception) => about(exception, rulesFile, 'is no longer needed. Remove it.')),
    ...bare.map((exception) => about(exception, rulesFile, 'has no reason that a stranger could judge. Write it out.')),
  ];
}

const REASON_LENGTH_MIN = 20;

function covers(exception: Exception, finding: Finding): boolean {
  const isSameName = exception.name === undefined || exception.name === finding.name;
  return exception.rule === finding.rule && exception.file === finding.file && isSameName;
}

function about({ rule, file, name }: Exception, rulesFile: string, what: string): Finding {
  const subject = name === undefined ? file : `\`${name}\` in ${file}`;
  return { rule: 'exceptions', file: rulesFile, line: 1, message: `The exception from ${rule} for ${subject} ${what}` };
}
