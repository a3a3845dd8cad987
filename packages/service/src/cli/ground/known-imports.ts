import { registerHooks } from 'node:module';

const SERVICE = new URL('../../', import.meta.url).href;
/** The service is JavaScript where it is installed, and TypeScript in a checkout. */
const FORMAT = import.meta.url.endsWith('.ts') ? 'module-typescript' : 'module';

/**
 * Says where each import of the service leads. Called before the first of them. Modules of the service import each other as
 * `#<folder>/<file>.ts`. Node looks each such import up for every module that has it: `package.json` in four folders, twice, its
 * table, the file, its real path. A gateway process has two thousand of them, of seven hundred files.
 */
export function keepKnownImports(): void {
  registerHooks({
    resolve: (specifier, context, lookUp) =>
      specifier.startsWith('#') && context.parentURL?.startsWith(SERVICE) === true
        ? { url: SERVICE + specifier.slice(1), format: FORMAT, shortCircuit: true }
        : lookUp(specifier, context),
  });
}
