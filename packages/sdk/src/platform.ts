/**
 * Types of the platform as the project that uses this package knows them, whether from TypeScript's own `dom` or from the
 * types of Node, Bun, Deno or an edge runtime: none of these has to be installed.
 */
type Global<Name extends string> = typeof globalThis extends Record<Name, infer Value> ? Value : never;

export type Fetch = Global<'fetch'>;
export type Signal = Global<'AbortSignal'> extends { prototype: infer Instance } ? Instance : never;
