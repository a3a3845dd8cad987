import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { StockClient } from './stock-client.ts';

/** The folder of packages that stand in for those of `package.json` (newest.ts). */
const NEWEST = process.env['PURSER_TEST_NODE_CLIENTS'];
const ROOT = path.join(import.meta.dirname, '..', '..');

/** The versions installed here; the first is that of the package that is pointed at Purser. */
export function installedVersions({ packages }: StockClient): string {
  const [last = '', ...others] = packages.toReversed();
  const beside = others.map((name) => ` with ${name} ${versionOf(name)}`);
  return versionOf(last) + beside.join('');
}

function versionOf(name: string): string {
  const file = path.join(NEWEST ?? ROOT, 'node_modules', name, 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version;
}
