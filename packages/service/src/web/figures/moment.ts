import { type Html, html } from '#kernel/text/html.ts';
import { isoOf } from '#kernel/time/clock.ts';
import type { Formats } from '#web/format/formats.ts';

/** A moment to the minute, in UTC and in the reader's language. Programs read the exact moment from `datetime`. */
export function moment(epochMs: number, formats: Formats): Html {
  return html`<time datetime="${isoOf(epochMs)}">${formats.moment(epochMs)}</time>`;
}
