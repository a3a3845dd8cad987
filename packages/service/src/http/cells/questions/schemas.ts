import { z } from 'zod';
import { dateOf, epochMsOf } from '#kernel/time/clock.ts';
import {
  type AppId,
  type CallId,
  type EndUserId,
  parseCallId,
  parseCorrelationId,
  parseEndUserId,
  parseId,
} from '#kernel/values/ids.ts';
import { isJsonObject } from '#kernel/text/json.ts';
import { micros } from '#kernel/values/micros.ts';
import { isMonth } from '#calls/usage/usage.ts';

/** What questions of cells and their answers are made of. */

/** A whole number that JSON numbers may not hold: decimal digits. */
export const bigintSchema = z.codec(z.string().regex(/^-?\d{1,30}$/), z.bigint(), {
  decode: BigInt,
  encode: String,
});
/** An amount. A sum beyond the largest one is a fault of the cell that answers. */
export const microsSchema = z.codec(bigintSchema, z.custom<ReturnType<typeof micros>>(), {
  decode: micros,
  encode: (amount) => amount,
});
export const countSchema = z.int().min(0);
export const timeSchema = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => dateOf(epochMsOf(text)),
  encode: (time) => time.toISOString(),
});
export const appIdSchema = z.custom<AppId>((id) => typeof id === 'string' && parseId('app', id) !== undefined);
export const userIdSchema = z.custom<EndUserId>((id) => typeof id === 'string' && parseEndUserId(id) !== undefined);
export const modeSchema = z.enum(['live', 'sandbox']);
/** A name, such as that of a model. Somebody may ask for one that is as long as an address: the size of a question is what bounds it. */
export const textSchema = z.string();
export const callIdSchema = z.custom<CallId>((id) => typeof id === 'string' && parseCallId(id) !== undefined);
export const correlationIdSchema = z.custom<string>(
  (id) => typeof id === 'string' && parseCorrelationId(id) !== undefined,
);
export const daySchema = z.iso.date();
export const monthSchema = z.string().refine(isMonth);

/** A list that nobody changes, as readers give it. */
export const listOf = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();

/** An object that its reader knows, or null. */
export const objectSchema = <Shape extends object>() => z.custom<Shape>((value) => isJsonObject(value)).nullable();

/** A value that may be undefined, which JSON has no word for: null. */
export const maybe = <Value>(schema: z.ZodType<Value>) =>
  z.codec(schema.nullable(), z.custom<Value | undefined>(), {
    decode: (value) => value ?? undefined,
    encode: (value) => value ?? null,
  });
