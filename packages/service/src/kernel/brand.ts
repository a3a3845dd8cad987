import type { $brand } from 'zod';

/**
 * A `Base` that the compiler will not confuse with another one. It is the brand of zod, so that a schema of the contract makes
 * the same types. Otherwise parsers, row types and the functions beside a brand make it: `tools/structure` refuses casts.
 */
export type Brand<Base, Name extends string> = Base & $brand<Name>;
