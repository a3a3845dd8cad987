import { defineConfig, type DummyRuleMap, type OxlintOverride } from 'oxlint';
import { PACKAGES } from '../structure/areas.ts';
import { MODULES, type ModuleUser, OWN_IMPORTS, RESTRICTED_BUILT_INS } from './modules.ts';
import { RESTRICTED } from './restricted.ts';

const SERVICE = 'packages/service/src';
const ROOT_FOLDERS = ['examples', 'benchmarks'];
const PRODUCT = ['packages/*/src/**/*.ts', 'examples/**/*.ts', 'benchmarks/**/*.ts'];
const TESTS = ['tests/**', '**/*.test.ts'];

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

const FREE: DummyRuleMap = {
  'no-restricted-globals': 'off',
  'no-restricted-properties': 'off',
};

/** What oxlint checks, made from the tables beside this file. `tests/structure/lint.test.ts` sees each rule fail. */
export const CONFIG = defineConfig({
  plugins: ['eslint', 'typescript', 'unicorn', 'oxc', 'import'],
  categories: { correctness: 'error', suspicious: 'error' },
  rules: EVERYWHERE,
  overrides: [
    { files: [`${SERVICE}/**`], rules: { 'oxc/no-barrel-file': ['error', { threshold: 0 }] } },
    { files: PRODUCT, rules: restrictionsAt([]) },
    // The last override of a rule replaces the ones before. So areas come first, and each file repeats its area's rights.
    ...placesWithRights().map(rightsOf),
    { files: ['benchmarks/**'], rules: FREE },
    {
      files: TESTS,
      rules: {
        'typescript/no-floating-promises': 'off',
        'typescript/no-non-null-assertion': 'off',
        'no-restricted-imports': 'off',
        ...FREE,
      },
    },
  ],
  ignorePatterns: ['node_modules', 'dist'],
});

/** The areas and files that the tables name, areas first. */
function placesWithRights(): readonly string[] {
  const users = Object.values({ ...MODULES, ...RESTRICTED_BUILT_INS }).flat();
  const places = [...users.map(({ place }) => place), ...RESTRICTED.flatMap(({ allowed }) => allowed)];
  return [...new Set(places)].toSorted((left, right) => Number(isFile(left)) - Number(isFile(right)));
}

function rightsOf(place: string): OxlintOverride {
  const area = place.slice(0, place.indexOf('/'));
  return { files: [globOf(place)], rules: restrictionsAt(isFile(place) ? [area, place] : [place]) };
}

function isFile(place: string): boolean {
  return place.endsWith('.ts');
}

/** `mail/smtp.ts` is a file of the service, `contract/errors.ts` one of another package, `examples` a folder of the root. */
function globOf(place: string): string {
  const [area = '', ...rest] = place.split('/');
  const within = isFile(place) ? rest.join('/') : '**/*.ts';
  if (ROOT_FOLDERS.includes(area)) return `${area}/${within}`;
  return PACKAGES.includes(area) ? `packages/${area}/src/${within}` : `${SERVICE}/${area}/${within}`;
}

/** The rules for code that has the rights of all of `places`. */
function restrictionsAt(places: readonly string[]): DummyRuleMap {
  const restricted = RESTRICTED.filter(({ allowed }) => !allowed.some((place) => places.includes(place)));
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
    'no-restricted-imports': ['error', importsAt(places)],
  };
}

/** All but the repository's own files, the built-in modules, and the packages whose rows name one of `places`. */
function importsAt(places: readonly string[]) {
  const isHere = ({ place }: ModuleUser): boolean => places.includes(place);
  const here = Object.entries(MODULES).filter(([, users]) => users.some(isHere));
  const typesOnly = here.filter(([, users]) => users.filter(isHere).every(({ isTypeOnly }) => isTypeOnly === true));
  const builtIns = Object.entries(RESTRICTED_BUILT_INS).filter(([, users]) => !users.some(isHere));
  const free = ['node:*', ...OWN_IMPORTS.map((start) => `${start}*`), ...here.map(([module]) => module)];
  return {
    paths: [
      ...typesOnly.map(([name]) => ({ name, allowTypeImports: true, message: 'Only its types may be imported here.' })),
      ...builtIns.map(([name]) => ({ name, message: 'Use kernel/clock.ts or app/config.ts.' })),
    ],
    patterns: [
      {
        group: ['*', ...free.flatMap((name) => [`!${name}`, `!${name}/**`])],
        message: 'tools/lint/modules.ts lists who may import a package. Use what is there, or write a decision record.',
      },
    ],
  };
}
