import { type Html, html } from '#kernel/text/html.ts';
import { fold } from '#web/components/fold.ts';
import { list } from '#web/components/list.ts';

type Facts = Readonly<Record<string, unknown>>;

/** A page stays small: an export and the API have the whole text. */
const SHOWN_MAX = 200;

/** The fields that an act was about, folded away. The trail has no secrets. */
export function changesOf(before: Facts | undefined, after: Facts | undefined): Html | undefined {
  const [old, fresh] = [before ?? {}, after ?? {}];
  const names = [...new Set([...Object.keys(old), ...Object.keys(fresh)])];
  if (names.length === 0) return undefined;
  const isChange = before !== undefined && after !== undefined;
  const items = names.map((name) => html`${name}: ${changeOf(old, fresh, name)}`);
  return fold(isChange ? 'Before and after' : 'Details', list(items));
}

function changeOf(before: Facts, after: Facts, name: string): string {
  if (!(name in before)) return textOf(after[name]);
  if (!(name in after)) return textOf(before[name]);
  return `${textOf(before[name])} → ${textOf(after[name])}`;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'none';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)} …`;
}
