const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A number of bytes with three digits or so, such as `12.5 MiB`. */
export function bytesText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1_024 && unit < UNITS.length - 1) [value, unit] = [value / 1_024, unit + 1];
  return `${value < 10 && unit > 0 ? value.toFixed(1) : String(Math.round(value))} ${UNITS[unit]}`;
}

const STEPS = [
  { unit: 'd', seconds: 86_400 },
  { unit: 'h', seconds: 3_600 },
  { unit: 'min', seconds: 60 },
] as const;

/** A time to the two largest units, such as `3 h 12 min`. Below a minute in seconds. */
export function durationText(seconds: number): string {
  if (seconds < 1) return `${Math.round(Math.max(0, seconds) * 1_000)} ms`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  let left = seconds;
  const parts = STEPS.map(({ unit, seconds: step }) => {
    const count = Math.floor(left / step);
    left -= count * step;
    return { count, text: `${count} ${unit}` };
  });
  const first = parts.findIndex(({ count }) => count > 0);
  return parts
    .slice(first, first + 2)
    .filter(({ count }) => count > 0)
    .map(({ text }) => text)
    .join(' ');
}
