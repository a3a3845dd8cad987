import { registerHooks, type ResolveFnOutput } from 'node:module';

const SERVICE = new URL('../../', import.meta.url).href;

/**
 * Keeps where each import of the service leads. Called before the first of them. Modules of the service import each other as
 * `#<folder>/<file>.ts`. Node looks each such import up again, for every module that has it: `package.json` in four folders, its
 * table, the file. A gateway process has two thousand of them, of seven hundred files.
 */
export function keepKnownImports(): void {
  const known = new Map<string, ResolveFnOutput>();
  registerHooks({
    resolve: (specifier, context, lookUp) => {
      if (!specifier.startsWith('#') || context.parentURL?.startsWith(SERVICE) !== true)
        return lookUp(specifier, context);
      const found = known.get(specifier) ?? { ...lookUp(specifier, context), shortCircuit: true };
      known.set(specifier, found);
      return found;
    },
  });
}
