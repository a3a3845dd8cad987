import type { z } from 'zod';
import type { JsonObject } from '#kernel/json.ts';

/** Who may call a route: anybody, a session, one of an operator, an app, an app for one of its users, who reads metrics. */
type Access = 'public' | 'session' | 'operator' | 'app' | 'user' | 'metrics';

/** What is sent or answered by another type than JSON. */
interface OtherContent {
  readonly contentType: string;
  readonly schema: Schema;
}

/** Ours, or a JSON schema where none of ours checks it. */
export type Schema = z.ZodType | JsonObject;

/** A route as the document tells of it. */
export interface DescribedRoute {
  /** In capital letters. */
  readonly method: string;
  /** With parameters in braces. */
  readonly path: string;
  readonly access: Access;
  readonly params?: z.ZodObject | undefined;
  readonly query?: z.ZodObject | undefined;
  readonly body?: Schema | undefined;
  /** By status; null: an answer without a body. */
  readonly answers: Readonly<Record<string, z.ZodType | null>>;
  /** Other forms of the answer with status 200. */
  readonly others?: readonly OtherContent[];
  /** Names of headers that answers with status 200 may have beside those of all answers. */
  readonly headers?: readonly string[];
}
