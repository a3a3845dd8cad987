import type { IncomingMessage } from 'node:http';
import { readBody } from '#http/read-body.ts';
import { Refusal, refuse } from '#kernel/refusal.ts';

/** The fields of a form. A field that was not sent is empty, as an unchecked box is. */
export interface Form {
  readonly field: (name: string) => string;
}

/** Far more than any form of ours needs. The largest carries a passkey. */
const FORM_BYTES_MAX = 16_384;
const TYPE = /^application\/x-www-form-urlencoded *(;|$)/i;

/** Reads the form in a request. Undefined: the caller left before it was whole. */
export async function readForm(
  request: IncomingMessage,
): Promise<Form | Refusal<'BAD_REQUEST' | 'PAYLOAD_TOO_LARGE'> | undefined> {
  if (!TYPE.test(request.headers['content-type'] ?? '')) return noForm();
  const bytes = await readBody(request);
  if (bytes === undefined || bytes instanceof Refusal) return bytes;
  if (bytes.length > FORM_BYTES_MAX) {
    return refuse('PAYLOAD_TOO_LARGE', `The form is above the limit of ${FORM_BYTES_MAX} bytes.`);
  }
  const fields = fieldsOf(bytes.toString('latin1'));
  return fields === undefined ? noForm() : { field: (name) => fields.get(name) ?? '' };
}

/** Undefined if a field is there twice or is not UTF-8: any reading of it would be a guess, and forms move money. */
function fieldsOf(text: string): ReadonlyMap<string, string> | undefined {
  const fields = new Map<string, string>();
  for (const pair of text.split('&').filter((part) => part !== '')) {
    const [name, ...value] = pair.split('=').map(decoded);
    if (name === undefined || value.length !== 1 || value[0] === undefined || fields.has(name)) return undefined;
    if (/\0/.test(value[0])) return undefined; // PostgreSQL cannot store NUL in a text.
    fields.set(name, value[0]);
  }
  return fields;
}

/** Undefined for text that is no valid percent encoding of UTF-8. */
function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** One refusal for every form that a browser would not send: programs have the API. */
function noForm(): Refusal<'BAD_REQUEST'> {
  return refuse('BAD_REQUEST', 'This is not a form that a browser would send.');
}
