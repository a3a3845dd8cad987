import { readFileSync } from 'node:fs';
import type { StockClient } from './stock-client.ts';

/** The versions installed here; the first is that of the package that is pointed at Purser. */
export function installedVersions({ packages }: StockClient): string {
  const [last = '', ...others] = packages.toReversed();
  const beside = others.map((name) => ` with ${name} ${versionOf(name)}`);
  return versionOf(last) + beside.join('');
}

function versionOf(name: string): string {
  const file = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version;
}
