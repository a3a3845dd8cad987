import { explainIssue, issueWords } from '@purser/contract/issues.ts';
import type { FastifySchemaCompiler, FastifyTypeProvider } from 'fastify';
import type { FastifySerializerCompiler } from 'fastify/types/schema.js';
import type { z } from 'zod';
import { shownOf } from '#gateway/body/parse-body.ts';
import { pathOf } from '#gateway/body/value-path.ts';
import { Refused } from '#http/answers/refused.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';

/** Types the parameters and answers of handlers by the schemas of their routes. */
export interface SchemaTypes extends FastifyTypeProvider {
  readonly validator: this['schema'] extends z.ZodType ? z.output<this['schema']> : unknown;
  readonly serializer: this['schema'] extends z.ZodType ? z.output<this['schema']> : unknown;
}

/** Reads a part of a request by its schema. Refuses it with the name of the first field at fault. */
export function readBySchema<Schema extends z.ZodType>(
  schema: Schema,
  data: unknown,
): z.output<Schema> | Refusal<'BAD_REQUEST'> {
  const read = schema.safeParse(data, { error: issueWords, reportInput: true });
  return read.success ? read.data : refusalOf(read.error);
}

/** Whether a route accepts no body: one that accepts an empty object does. */
export function isOptionalBody(schema: z.ZodType): boolean {
  return schema.safeParse({}).success;
}

/** Checks requests, in the form that the framework expects. */
export const readRequest: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart }) => {
  const isOptional = httpPart === 'body' && isOptionalBody(schema);
  return (data: unknown) => {
    const read = readBySchema(schema, isOptional ? (data ?? {}) : data);
    return read instanceof Refusal ? { error: new Refused(read) } : { value: read };
  };
};

/**
 * Writes an answer by its schema. A field that the schema does not name is left out, so that no internal field leaks. One
 * that does not fit is a fault of ours (500). `null` is an answer without a body.
 */
export const checkAnswer: FastifySerializerCompiler<z.ZodType> = ({ schema }) => {
  return (data: unknown) => {
    const answer = schema.parse(data);
    return answer === null ? '' : JSON.stringify(answer);
  };
};

/** Names the first field at fault, what it accepts, and what was sent. */
function refusalOf({ issues: [first] }: z.ZodError) {
  if (first === undefined) return refuse('BAD_REQUEST', 'The body is not accepted.');
  const { steps, words } = explainIssue(first);
  if (steps.length === 0) return refuse('BAD_REQUEST', `The body ${words}`);
  const path = shownOf(pathOf(steps));
  return refuse('BAD_REQUEST', `\`${path}\`: ${words}`, { param: path });
}
