import type { OwnCount } from '#gateway/usage/generated.ts';
import { laterReport } from '#gateway/usage/usage-report.ts';
import type { Chunk, UsageReport } from '#providers/port/completion.ts';

/**
 * Follows the usage that the chunks of one stream report. Many providers send one before the end: with the first chunk, on each chunk with
 * zeros in it, or as a count that runs along. Only one behind the last text tells of all that was generated.
 */
interface ReportWatch {
  /** `hasText`: the chunk says something. `own`: our count of all that was said up to it, this chunk included. */
  readonly follow: (chunk: Chunk, hasText: boolean, own: () => OwnCount) => void;
  /** Text came in a chunk that reports nothing. */
  readonly followText: () => void;
  readonly report: () => UsageReport | undefined;
  /** The stream has said anything. */
  readonly hasSaid: () => boolean;
  /**
   * What an ending needs of it. `isFinished`: the provider has said why it ended. What a running count told of its part counts, and our
   * own count of the rest.
   */
  readonly facts: (isFinished: boolean, own: () => OwnCount) => ReportFacts;
}

interface ReportFacts {
  readonly report: UsageReport | undefined;
  /** The report tells of all that was generated. */
  readonly isReportLast: boolean;
  readonly isFinished: boolean;
  readonly count: () => OwnCount;
}

/** `choices`: those of the call. Of several, a report may be that of one. */
export function createReportWatch(choices: number): ReportWatch {
  let report: UsageReport | undefined;
  /** No text came after the newest report. */
  let isCurrent = false;
  /** The report came alone, behind some text. */
  let isAlone = false;
  /** The count of the output has risen from chunk to chunk, so it is no placeholder. */
  let isRunning = false;
  let hasSaid = false;
  /** Our own count up to the newest report of a running count. */
  let before: OwnCount | undefined;

  function counted({ textTokens, pictures }: OwnCount): OwnCount {
    if (before === undefined || report?.counts.completion === undefined) return { textTokens, pictures };
    const since = textTokens - before.textTokens;
    return { textTokens: report.counts.completion + since, pictures: pictures - before.pictures };
  }

  return {
    follow: ({ choices: said, usage }, hasText, own) => {
      hasSaid ||= hasText;
      if (usage === undefined) {
        isCurrent &&= !hasText;
        return;
      }
      const earlier = report?.counts.completion;
      report = laterReport(report, usage);
      const completion = report?.counts.completion ?? 0;
      isRunning ||= choices === 1 && hasSaid && earlier !== undefined && earlier > 0 && completion > earlier;
      const isOpen = said.some(({ finish_reason: reason }) => reason === null);
      // A count that stays as it is while text comes, such as zero, is a place that is filled in later.
      const isRisen = completion > (earlier ?? 0);
      isCurrent = !(hasText && isOpen && !isRisen);
      isAlone = said.length === 0 && hasSaid && completion > 0 && choices === 1;
      if (isRunning) before = own();
    },
    followText: () => {
      hasSaid = true;
      isCurrent = false;
    },
    report: () => report,
    hasSaid: () => hasSaid,
    facts: (isFinished, own) => ({
      report,
      isReportLast: isCurrent && (isFinished || isAlone || isRunning),
      isFinished,
      count: () => counted(own()),
    }),
  };
}
