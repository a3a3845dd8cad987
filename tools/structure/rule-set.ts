/** Every rule, as a finding shows it and an exception names it. */
export const RULE_NAMES = [
  'readable',
  'brand-casts',
  'sql-home',
  'sql-owner',
  'migration-names',
  'migration-mentions',
  'migration-contracts',
  'function-files',
  'unused-files',
  'unused-exports',
  'folder-readmes',
  'machine-paths',
  'lock-files',
  'dead-links',
  'minimums',
  'exceptions',
] as const;

export type RuleName = (typeof RULE_NAMES)[number];

/** The shape of `rules.ts`. Files of the service are named from its `src`: `ledger/holds.ts`; others `contract/errors.ts`. */
export interface RuleSet {
  /** A folder of the service or a whole package, and what it may import. Itself is always included. */
  readonly areas: Readonly<Record<string, readonly string[]>>;
  /** Prefixes of import specifiers that mean a folder of this repository. */
  readonly aliases: Readonly<Record<string, string>>;
  readonly sql: SqlRules;
  /** Files from which every file of the service is reached by imports. */
  readonly entries: readonly string[];
  readonly exceptions: readonly Exception[];
  /** The least that a run must have read of each kind: below it, the checker itself is broken. */
  readonly minimums: Readonly<Partial<Record<Counted, number>>>;
}

export interface SqlRules {
  /** Each schema is owned by the folder of its name. */
  readonly schemas: readonly string[];
  /** Names of files that hold SQL in any folder, and areas or files that hold it besides. */
  readonly homes: { readonly fileNames: readonly string[]; readonly places: readonly string[] };
  readonly migrations: string;
  /** The last migration of version 0.1. Those after it say what they take away from older builds. */
  readonly expandsAfter: number;
  /** Where functions lie: `ledger/hold/reserve.sql` holds `ledger.reserve`. */
  readonly functions: string;
  /** What functions of a schema may mention of another beyond what its folder may import. */
  readonly mentions: Readonly<Record<string, readonly string[]>>;
}

/** A finding that is accepted. One that nothing needs any more is a finding itself. */
export interface Exception {
  readonly rule: RuleName;
  readonly file: string;
  /** The export, module or word that the finding names; left out, any of that rule in that file. */
  readonly name?: string;
  readonly reason: string;
}

export type Counted =
  | 'repository files'
  | 'TypeScript files'
  | 'service files'
  | 'imports'
  | 'exported names'
  | 'SQL texts'
  | 'migrations'
  | 'function files'
  | 'database objects';
