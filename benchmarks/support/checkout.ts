import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as check from '../../packages/service/src/ledger/check/check.ts';
import type * as books from './books.ts';
import type * as database from './database.ts';
import type * as fill from './fill.ts';
import type * as ledgerClient from './ledger-client.ts';
import type * as service from './service.ts';

/** The parts of a checkout of this repository that start its service and judge its books. */
export interface Checkout {
  /** The absolute path of the checkout. */
  readonly root: string;
  readonly database: typeof database;
  readonly service: typeof service;
  readonly books: typeof books;
  readonly fill: typeof fill;
  readonly ledgerClient: Pick<typeof ledgerClient, 'differenceFromPairs'>;
  readonly check: typeof check;
}

/** Throws if the folder is no checkout that can be measured. An older one brings its own schema, and its own way to read it. */
export async function openCheckout(folder: string): Promise<Checkout> {
  const root = path.resolve(folder);
  const load = async <Module>(file: string): Promise<Module> => {
    const found = path.join(root, file);
    if (!existsSync(found)) throw new Error(`${root} has no ${file}, so it cannot be measured.`);
    return (await import(pathToFileURL(found).href)) as Module;
  };
  return {
    root,
    database: await load('benchmarks/support/database.ts'),
    service: await load('benchmarks/support/service.ts'),
    books: await load('benchmarks/support/books.ts'),
    fill: await load('benchmarks/support/fill.ts'),
    ledgerClient: await load('benchmarks/support/ledger-client.ts'),
    check: await load('packages/service/src/ledger/check/check.ts'),
  };
}
