import { checkFields } from '@purser/contract/check-fields.ts';
import type { ErrorCode } from '@purser/contract/errors.ts';
import { type ArrivingBodies, PUBLIC_BODY_BYTES_MAX, readBody, strangers } from '#http/requests/read-body.ts';
import type { Exchange } from '#http/answers/respond.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { type AppId, appIdFrom, type KeyId, keyIdFrom } from '#kernel/values/ids.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';
import { hiddenField } from '#web/fields/fields.ts';
import { micros } from '#kernel/values/micros.ts';
import type { Agreed, PersonWallet } from '#privacy/deletion.ts';

/** The fields of a form. A field that was not sent is empty, as an unchecked box is. */
export interface Form {
  readonly field: (name: string) => string;
  /** Every field that was sent, but no file. */
  readonly fields: ReadonlyMap<string, string>;
  /** The names of the fields for a file, chosen or not. */
  readonly fileNames: readonly string[];
  /** The bytes of a file that was chosen. Undefined if none was, and in forms without a field for one. */
  readonly file: (name: string) => Buffer | undefined;
}

const TYPE = /^application\/x-www-form-urlencoded *(;|$)/i;
/** The content type of forms with a file. */
const FILE_TYPE = /^multipart\/form-data *;/i;
/** A picture of 16 KiB, and the other fields. */
const FILE_FORM_BYTES_MAX = 20_480;

/** A form that may be larger, from somebody who is signed in. */
interface LargeForm {
  readonly arriving: ArrivingBodies;
  /** The limit in bytes. */
  readonly most: number;
}

/** Reads the form in a request from this network address. Undefined if the caller left before it was whole. */
export async function readForm(
  exchange: Exchange,
  address: string,
  large?: LargeForm,
): Promise<Form | Refusal<'BAD_REQUEST' | 'PAYLOAD_TOO_LARGE' | 'TOO_MANY_REQUESTS'> | undefined> {
  const type = exchange.request.headers['content-type'] ?? '';
  const hasFile = FILE_TYPE.test(type);
  if (!hasFile && !TYPE.test(type)) return noForm();
  const ordinary = { arriving: strangers, most: hasFile ? FILE_FORM_BYTES_MAX : PUBLIC_BODY_BYTES_MAX };
  const bytes = await readBody(exchange, { ...ordinary, ...large, caller: address });
  if (bytes === undefined || bytes instanceof Refusal) return bytes;
  if (hasFile) return (await partsOf(bytes, type)) ?? noForm();
  const fields = fieldsOf(bytes.toString('latin1'));
  if (fields === undefined) return noForm();
  return { field: (name) => fields.get(name) ?? '', fields, file: () => undefined, fileNames: [] };
}

/** The fields and files of a form with a file. Undefined if it is not well formed, or a field is there twice. */
async function partsOf(bytes: Buffer, type: string): Promise<Form | undefined> {
  const fields = new Map<string, string>();
  const files = new Map<string, Buffer>();
  try {
    const data = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
    for (const [name, value] of data) {
      if (fields.has(name) || files.has(name)) return undefined;
      if (typeof value !== 'string') files.set(name, Buffer.from(await value.arrayBuffer()));
      else if (value.includes('\0')) return undefined;
      else fields.set(name, value);
    }
  } catch {
    return undefined;
  }
  return {
    field: (name) => fields.get(name) ?? '',
    fields,
    fileNames: [...files.keys()],
    file: (name) => (files.get(name)?.length === 0 ? undefined : files.get(name)),
  };
}

/**
 * Returns undefined if a field is there twice or is not UTF-8: any reading of it would be a guess, and forms move
 * money.
 */
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

/** Returns undefined for text that is no valid percent encoding of UTF-8. */
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

/** Reads a text with one entry on each line. Returns null if there is none. */
export function linesIn(text: string): readonly string[] | null {
  const lines = text.split('\n').map((line) => line.trim());
  const typed = lines.filter((line) => line !== '');
  return typed.length === 0 ? null : typed;
}

type Schema = Parameters<typeof checkFields>[0];
type Value<S extends Schema> = Extract<ReturnType<typeof checkFields<S>>, { readonly value: unknown }>['value'];

/** What was typed, by the rules of the route that does the same. `labels`: what the page calls the fields of the route. */
export function checked<S extends Schema>(
  schema: S,
  typed: unknown,
  labels: Readonly<Record<string, string>>,
): Value<S> | Refusal<'BAD_REQUEST'> {
  const result = checkFields(schema, typed, labels);
  if ('value' in result) return result.value;
  return refuse('BAD_REQUEST', result.problems.map(({ message }) => message).join(' '));
}

/**
 * A refusal of a service in the words of a page. A service names a field as the API does, such as `endpointUrl`; people only see its
 * label. `labels`: what the page calls each field.
 */
export function withFieldLabels<Code extends ErrorCode>(
  { code, message, detail }: Refusal<Code>,
  labels: Readonly<Record<string, string>>,
): Refusal<Code> {
  const words = message.replaceAll(/`([\w.]+)`/g, (whole, field: string) =>
    Object.hasOwn(labels, field) ? `“${labels[field]}”` : whole,
  );
  return refuse(code, words, detail);
}

const LENGTH = 22; // 131 bits.
const ONCE = /^[0-9A-Za-z]{22}$/;

/**
 * A value of one shown form. What the form makes takes its id from it, so sending the same form again, by reloading the answer
 * or by a second press, makes nothing more.
 */
export function onceField(): Html {
  return html`${hiddenField('once', randomBase62(LENGTH))}`;
}

/** The id of the key that this form makes in the app. Undefined for a form without the value: any id will do. */
export function keyIdOnce(form: Form, appId: AppId): KeyId | undefined {
  const once = onceIn(form);
  return once === undefined ? undefined : keyIdFrom(`${appId}\n${once}`);
}

/** Returns the id of an app that this account makes, which is the same if the form is sent again. */
export function appIdOnce(form: Form, accountId: string): AppId | undefined {
  const once = onceIn(form);
  return once === undefined ? undefined : appIdFrom(`${accountId}\n${once}`);
}

/** The value of the form itself. Undefined for a form without one. */
export function onceIn(form: Form): string | undefined {
  const text = form.field('once');
  return ONCE.test(text) ? text : undefined;
}

/** The field of a form that names what a person gives up in each wallet. */
const FIELD = 'givesUp';
const REST = /^(\w+):([1-9]\d{0,15})$/;

/** Names the amounts that the page shows, so that nobody gives up more than they have read. */
export function givenUpField(rests: readonly PersonWallet[]): Html | undefined {
  if (rests.length === 0) return undefined;
  return html`${hiddenField(FIELD, rests.map(({ connectionId, balance }) => `${connectionId}:${balance}`).join(' '))}\n`;
}

/** What the form says that is given up. */
export function givenUpIn(form: Form): Agreed {
  const amounts = new Map(
    form
      .field(FIELD)
      .split(' ')
      .flatMap((text) => {
        const [, connectionId, amount] = REST.exec(text) ?? [];
        return connectionId === undefined || amount === undefined
          ? []
          : [[connectionId, micros(BigInt(amount))] as const];
      }),
  );
  return ({ connectionId }) => amounts.get(connectionId);
}
