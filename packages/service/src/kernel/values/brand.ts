import type { $brand } from 'zod';

/**
 * A `Base` that the compiler does not confuse with other values of the same type, such as an app id with an account id.
 * It is zod's brand, so a schema of the contract makes the same types. Otherwise parsers, row types and the functions
 * beside a brand make it, and `tools/structure` refuses casts.
 */
export type Brand<Base, Name extends string> = Base & $brand<Name>;
