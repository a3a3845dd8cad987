// Loaded before the first module of a test process, and of a service that a test starts. Modules of the service import each other
// as `#<folder>/<file>.ts`. Node looks each such import up again, for every module that has it: `package.json` in four folders, its
// table, the file. The service has four thousand imports of a thousand files, so a fifth of its start was spent on that.
import { registerHooks, type ResolveFnOutput } from 'node:module';

const SERVICE = new URL('../packages/service/src/', import.meta.url).href;
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
