/**
 * Types of the platform as the app's own project knows them: from TypeScript's `dom`, or from the types of Node, Bun, Deno
 * or an edge runtime. The package requires none of these to be installed.
 */
type Global<Name extends string> = typeof globalThis extends Record<Name, infer Value> ? Value : never;

export type Fetch = Global<'fetch'>;
export type Answer = Awaited<ReturnType<Fetch>>;
export type Signal = Global<'AbortSignal'> extends { prototype: infer Instance } ? Instance : never;
