// Loaded before a run of tests that `npm run proofs -- clients` makes: the packages of a folder stand in for those of package.json.
import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { NODE_CLIENTS } from '../support/installed.ts';

const HERE = new URL('./', import.meta.url).href;
const NEWEST = pathToFileURL(path.join(NODE_CLIENTS.directory, 'any.js')).href;
const names = Object.keys(NODE_CLIENTS.versions);

registerHooks({
  resolve: (specifier, context, lookUp) => {
    const isOurs = context.parentURL?.startsWith(new URL('../', HERE).href) === true;
    const isClient = names.some((name) => specifier === name || specifier.startsWith(`${name}/`));
    return lookUp(specifier, isOurs && isClient ? { ...context, parentURL: NEWEST } : context);
  },
});
