/** Fields of a message or a delta that no model generates, so they are not counted as output. */
export const UNCOUNTED_FIELDS: ReadonlySet<string> = new Set(['role', 'id', 'type', 'format', 'signature']);
