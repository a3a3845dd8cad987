import type { z } from 'zod';
import type { JsonObject } from '#kernel/text/json.ts';

/**
 * Who may call a route: anybody; a session; a session or a listen token; an operator's session; an app; an app on behalf of one of its users; or the
 * reader of metrics.
 */
type Access = 'public' | 'session' | 'feed' | 'test' | 'operator' | 'app' | 'user' | 'metrics';

/** An answer in a type other than JSON. */
interface OtherContent {
  readonly contentType: string;
  readonly schema: Schema;
}

/** One of our schemas, or plain JSON schema for a part that none of ours checks. */
export type Schema = z.ZodType | JsonObject;

/** A route as the document describes it. */
export interface DescribedRoute {
  /** The method in capital letters. */
  readonly method: string;
  /** The path with parameters in braces, such as `/apps/{appId}`. */
  readonly path: string;
  readonly access: Access;
  readonly params?: z.ZodObject | undefined;
  readonly query?: z.ZodObject | undefined;
  readonly body?: Schema | undefined;
  /** The schema of each status; null for an answer without a body. */
  readonly answers: Readonly<Record<string, z.ZodType | null>>;
  /** The schema of its errors, where it is not the envelope alone. */
  readonly error?: z.ZodType;
  /** Other forms of the 200 answer. */
  readonly others?: readonly OtherContent[];
  /** Headers that a 200 answer may have in addition to those of all answers. */
  readonly headers?: readonly string[];
}
