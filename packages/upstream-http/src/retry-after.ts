/** Stock servers send milliseconds beside the seconds of RFC 9110. They are more exact, so they count first. */
const MILLISECONDS = /\r\nretry-after-ms:[\t ]*(\d{1,10})(?:\.\d*)?[\t ]*(?=\r|$)/i;
const SECONDS_OR_DATE = /\r\nretry-after:[\t ]*([^\r]*?)[\t ]*(?=\r|$)/i;
const SECONDS = /^\d{1,9}(?:\.\d{1,9})?$/;
const DATE = /\r\ndate:[\t ]*([^\r]*?)[\t ]*(?=\r|$)/i;

/**
 * How long header lines ask a client to wait, in milliseconds: at least 0, and not bounded. Undefined if they do not say, or not
 * in a form of RFC 9110. A date counts from the upstream's own clock, which its `date` tells, because ours may differ.
 */
export function retryAfterMsOf(lines: string): number | undefined {
  const milliseconds = MILLISECONDS.exec(lines)?.[1];
  if (milliseconds !== undefined) return Number(milliseconds);
  const value = SECONDS_OR_DATE.exec(lines)?.[1];
  if (value === undefined) return undefined;
  if (SECONDS.test(value)) return Math.ceil(Number(value) * 1_000);
  const then = secondsOf(value);
  const now = secondsOf(DATE.exec(lines)?.[1] ?? '');
  return then === undefined || now === undefined ? undefined : Math.max(0, then - now) * 1_000;
}

/** The form of date that servers must send. Its weekday says nothing new. */
const HTTP_DATE = /^[A-Z][a-z]{2}, (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT$/;
/** A year that begins in March ends with the day that leap years add, so that one formula fits all months. */
const MONTHS = ['Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec', 'Jan', 'Feb'];

/** Seconds since the first of March in the year 0. */
function secondsOf(date: string): number | undefined {
  const [, day, monthName = '', year, hour, minute, second] = HTTP_DATE.exec(date) ?? [];
  const month = MONTHS.indexOf(monthName);
  if (month === -1) return undefined;
  const marchYear = Number(year) - (month >= 10 ? 1 : 0);
  const leapDays = Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400);
  const days = marchYear * 365 + leapDays + Math.floor((month * 153 + 2) / 5) + Number(day) - 1;
  return ((days * 24 + Number(hour)) * 60 + Number(minute)) * 60 + Number(second);
}
