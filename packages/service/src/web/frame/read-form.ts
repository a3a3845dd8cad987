import { PUBLIC_BODY_BYTES_MAX, readBody } from '#http/read-body.ts';
import { strangers } from '#http/reading.ts';
import type { Exchange } from '#http/respond.ts';
import { Refusal, refuse } from '#kernel/refusal.ts';

/** The fields of a form. A field that was not sent is empty, as an unchecked box is. */
export interface Form {
  readonly field: (name: string) => string;
}

const TYPE = /^application\/x-www-form-urlencoded *(;|$)/i;

/** Reads the form in a request from this network address. Undefined: the caller left before it was whole. */
export async function readForm(
  exchange: Exchange,
  address: string,
): Promise<Form | Refusal<'BAD_REQUEST' | 'PAYLOAD_TOO_LARGE' | 'TOO_MANY_REQUESTS'> | undefined> {
  if (!TYPE.test(exchange.request.headers['content-type'] ?? '')) return noForm();
  const bytes = await readBody(exchange, { reading: strangers, caller: address, most: PUBLIC_BODY_BYTES_MAX });
  if (bytes === undefined || bytes instanceof Refusal) return bytes;
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
