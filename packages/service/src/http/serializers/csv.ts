/**
 * A field of a CSV file (RFC 4180). Text that a spreadsheet would run as a formula gets an apostrophe in front: the names
 * of models and users in a report are chosen by other people.
 */
export function csvField(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
