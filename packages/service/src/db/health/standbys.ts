const COUNTED = /^(?:first\s+|any\s+)?(\d+)\s*\(/i;

/** How many standbys each commit waits for, by `synchronous_standby_names`: `ANY 1 (a, b)`, `FIRST 2 (*)`, `2 (a, b)`, or `a, b` for one. */
export function standbysAsked(names: string): number {
  const text = names.trim();
  if (text === '') return 0;
  const [, count = '1'] = COUNTED.exec(text) ?? [];
  return Number(count);
}

/** Whether `synchronous_standby_names` takes any name: then subscriptions to tables confirm commits too. */
export function namesAny(names: string): boolean {
  return /(^|[\s(,])\*([\s),]|$)/.test(names.replaceAll(/"[^"]*"/g, 'quoted'));
}
