import { defineConfig, type DummyRuleMap, type OxlintOverride } from 'oxlint';
import { MODULES, TYPES_OF } from './modules.ts';
import { globOf, isGiven, ownImportsAt, type Place, PLACES, ROOT_FOLDERS } from './places.ts';
import { RESTRICTED } from './restricted.ts';

const PRODUCT = ['packages/*/src/**/*.ts', ...ROOT_FOLDERS.map((folder) => `${folder}/**/*.ts`)];
const TESTS = ['tests/**', '**/*.test.ts'];
const WAIT = 'Wait for an event, or with `waitUntil`. A time is too short on a busy machine, and too long on another.';
/** Test files that may sleep. */
const MAY_SLEEP = [
  'tests/proofs/costs/back-pressure.test.ts', // Sees that nothing more is written. A shorter time would only find less.
  'tests/proofs/crashes/webhook-crashes.test.ts', // Ends leases again and again until all is delivered.
  'tests/proofs/sdk/package.test.ts', // Hands the function to a context of its own.
];

const EVERYWHERE: DummyRuleMap = {
  'typescript/no-explicit-any': 'error',
  'typescript/no-floating-promises': 'error',
  'typescript/no-misused-promises': 'error',
  'typescript/await-thenable': 'error',
  'typescript/no-non-null-assertion': 'error',
  'typescript/switch-exhaustiveness-check': 'error',
  'typescript/no-unsafe-type-assertion': 'off',
  'typescript/consistent-return': 'off',
  'no-unused-vars': ['error', { ignoreRestSiblings: true, argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
  eqeqeq: 'error',
  'no-await-in-loop': 'off',
  'no-underscore-dangle': 'off',
  'no-shadow': 'off',
  'oxc/no-async-endpoint-handlers': 'off',
  'unicorn/require-post-message-target-origin': 'off', // For windows. Threads have no origin.

  'max-lines': ['error', { max: 300 }],
  'max-lines-per-function': ['error', { max: 70, IIFEs: true }],
  'import/no-cycle': ['error', { ignoreTypes: false }], // An import of a type points somewhere too.
  'import/no-named-as-default': 'off', // The `Stripe` of stripe, and `fc.assert` of fast-check below.
  'import/no-named-as-default-member': 'off',
  'unicorn/filename-case': ['error', { case: 'kebabCase' }],
  'typescript/ban-ts-comment': ['error', { 'ts-expect-error': false }],
  'no-warning-comments': ['error', { terms: ['todo', 'fixme', 'xxx'], location: 'anywhere' }],
};

const VAGUE = {
  group: ['index', 'utils', 'helpers', 'types', 'common'].map((name) => `**/${name}.ts`),
  message: 'A file is named after the noun or verb that it exports, not `utils.ts` or the like.',
};

const FREE: DummyRuleMap = {
  'no-restricted-globals': 'off',
  'no-restricted-properties': 'off',
  'no-restricted-imports': ['error', { patterns: [VAGUE] }],
};

/** What oxlint checks, made from the tables beside this file. `tests/proofs/toolchain/lint.test.ts` sees each rule fail. */
export const CONFIG = defineConfig({
  plugins: ['eslint', 'typescript', 'unicorn', 'oxc', 'import'],
  categories: { correctness: 'error', suspicious: 'error' },
  rules: { ...EVERYWHERE, ...FREE },
  overrides: [
    { files: ['packages/service/src/**'], rules: { 'oxc/no-barrel-file': ['error', { threshold: 0 }] } },
    // A type that is named by `import()` would get round the tables of imports.
    { files: PRODUCT, rules: { ...restrictionsAt(''), 'typescript/consistent-type-imports': 'error' } },
    ...PLACES.map((place): OxlintOverride => ({ files: [globOf(place)], rules: restrictionsAt(place) })),
    { files: ['benchmarks/**'], rules: { 'no-restricted-globals': 'off', 'no-restricted-properties': 'off' } },
    {
      files: TESTS,
      rules: {
        'typescript/consistent-type-imports': 'off',
        'typescript/no-floating-promises': 'off',
        'typescript/no-non-null-assertion': 'off',
        ...FREE,
      },
    },
    {
      files: ['**/*.test.ts'],
      rules: {
        'no-restricted-globals': ['error', { name: 'setTimeout', message: WAIT }],
        'no-restricted-imports': [
          'error',
          { paths: [{ name: 'node:timers/promises', importNames: ['setTimeout'], message: WAIT }], patterns: [VAGUE] },
        ],
      },
    },
    { files: MAY_SLEEP, rules: FREE },
  ],
  ignorePatterns: ['node_modules', 'dist'],
});

function restrictionsAt(place: Place): DummyRuleMap {
  const restricted = RESTRICTED.filter(({ allowed }) => !isGiven(allowed, place));
  const globals = restricted.filter(({ property }) => property === undefined);
  const properties = restricted.flatMap(({ name, property, instead }) =>
    property === undefined ? [] : [{ object: name, property, message: instead }],
  );
  return {
    'no-restricted-globals': [
      'error',
      { globals: globals.map(({ name, instead }) => ({ name, message: instead })), checkGlobalObject: true },
    ],
    'no-restricted-properties': ['error', ...properties],
    'no-restricted-imports': ['error', importsAt(place)],
  };
}

/** Everything is refused but files that the place may know, built-in modules, and packages that name the place in their rows. */
function importsAt(place: Place) {
  const givenBy = (table: Readonly<Record<string, string>>): readonly string[] =>
    Object.keys(table).filter((name) => isGiven(table[name] ?? '', place));
  const values = givenBy(MODULES);
  const types = givenBy(TYPES_OF).filter((name) => !values.includes(name));
  const builtIns = Object.keys(MODULES).filter((name) => name.startsWith('node:') && !values.includes(name));
  const free = ['node:*', ...values, ...types].flatMap((name) => [`!${name}`, `!${name}/**`]);
  return {
    paths: types.map((name) => ({ name, allowTypeImports: true, message: 'Only its types may be imported here.' })),
    patterns: [
      {
        group: ['*', ...free, ...builtIns, ...ownImportsAt(place), ...VAGUE.group],
        message:
          'tools/structure says which folder may import which, and tools/lint/modules.ts who may import a package. Move the ' +
          'code to the folder that owns the word, or take what it needs as a parameter from app/compose.ts. ' +
          VAGUE.message,
      },
    ],
  };
}
