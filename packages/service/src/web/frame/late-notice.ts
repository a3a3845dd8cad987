import type { Html } from '#kernel/text/html.ts';
import { warningNotice } from '#web/components/notices.ts';

/** The part of an address that says which processes have not confirmed an act (AU-09). Empty if all have. */
export function lateIn(late: readonly string[]): { readonly late?: string } {
  return late.length === 0 ? {} : { late: late.join('.') };
}

/** The warning of the page that follows the act. The address is anybody's to write, so only numbers are taken from it. */
export function lateNotice(query: URLSearchParams): Html | undefined {
  const late = query.get('late') ?? '';
  if (!/^(?:\d{1,12}|unknown)(?:\.\d{1,12}){0,63}$/.test(late)) return undefined;
  return warningNotice(
    `Not confirmed within a second by process ${late.split('.').join(', ')} of this service: it may go on as before until it answers again or its lease of 15 seconds ends.`,
  );
}
