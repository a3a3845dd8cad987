// Renders the manifests of `deploy/kubernetes` and validates them by kubeconform against Kubernetes' own schemas:
// `npm run proofs -- kubernetes`. It says how to get what is missing.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { programAt } from '../tests/support/nginx.ts';
import { ROOT } from './toolchain.ts';

const { values } = parseArgs({ options: { schema: { type: 'string' } } });
const FOLDER = path.join(ROOT, 'deploy/kubernetes');
const KUBECTL = programAt('kubectl');
const KUBECONFORM = process.env['PURSER_TEST_KUBECONFORM'] ?? programAt('kubeconform');
const SCHEMA = values.schema ?? process.env['PURSER_TEST_KUBERNETES_SCHEMA'];
const HOW = [
  [KUBECTL, '`kubectl`: the package kubernetes-client of Debian, or your cluster’s own.'],
  [
    KUBECONFORM,
    '`kubeconform`: `go install github.com/yannh/kubeconform/cmd/kubeconform@latest`, or its path in PURSER_TEST_KUBECONFORM.',
  ],
  [
    SCHEMA,
    'Kubernetes’ schema: `go mod download -json k8s.io/kubernetes@v1.34.3` prints a Dir; `api/openapi-spec/swagger.json` in it is the file ' +
      'for `--schema <file>` or PURSER_TEST_KUBERNETES_SCHEMA. Another version checks for that version.',
  ],
] as const;

interface Definition {
  readonly properties?: Readonly<Record<string, object>>;
  readonly additionalProperties?: unknown;
  readonly 'x-kubernetes-group-version-kind'?: readonly {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  }[];
}

interface Swagger {
  readonly definitions: Readonly<Record<string, Definition>>;
}

/** An unknown field is a fault: the server would drop it, and with it what somebody meant. */
function strict(definitions: Swagger['definitions']): Swagger['definitions'] {
  const entries = Object.entries(definitions).map(([name, definition]): [string, Definition] => {
    const isOpen = definition.properties === undefined || definition.additionalProperties !== undefined;
    return [name, isOpen ? definition : { ...definition, additionalProperties: false }];
  });
  return { ...Object.fromEntries(entries), [QUANTITY]: TEXT_OR_NUMBER, [INT_OR_STRING]: TEXT_OR_NUMBER };
}

const QUANTITY = 'io.k8s.apimachinery.pkg.api.resource.Quantity';
const INT_OR_STRING = 'io.k8s.apimachinery.pkg.util.intstr.IntOrString';
/** Swagger 2 cannot say this, so it calls both a string. */
const TEXT_OR_NUMBER = { oneOf: [{ type: 'string' }, { type: 'number' }] } as object;

/** Writes a schema for each kind, in the names that kubeconform looks for. */
function writeSchemas(swagger: Swagger, folder: string): void {
  const definitions = strict(swagger.definitions);
  mkdirSync(folder, { recursive: true });
  for (const [name, definition] of Object.entries(swagger.definitions)) {
    const kinds = definition['x-kubernetes-group-version-kind'] ?? [];
    const only = kinds.length === 1 ? kinds[0] : undefined; // The others are lists, options and such.
    if (only === undefined || definition.properties?.['metadata'] === undefined) continue;
    const group = only.group.split('.')[0] ?? '';
    const file = [only.kind, ...(group === '' ? [] : [group]), only.version].join('-').toLowerCase();
    writeFileSync(path.join(folder, `${file}.json`), JSON.stringify({ $ref: `#/definitions/${name}`, definitions }));
  }
}

function run(program: string, words: readonly string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync(program, words, { input, encoding: 'utf8', maxBuffer: 2 ** 26 });
  assert.equal(status, 0, `${program} ${words.join(' ')}\n${stdout}${stderr}`);
  return stdout;
}

function validate(kubectl: string, kubeconform: string, schema: string): void {
  const swagger = JSON.parse(readFileSync(schema, 'utf8')) as Swagger;
  const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-kubernetes-'));
  try {
    writeSchemas(swagger, folder);
    const location = `${folder}/{{ .ResourceKind }}{{ .KindSuffix }}.json`;
    const words = ['-strict', '-summary', '-verbose', '-schema-location', location];
    const rendered: readonly (readonly [string, string])[] = [
      ['gateways and worker', run(kubectl, ['kustomize', FOLDER])],
      ['migration', run(kubectl, ['kustomize', path.join(FOLDER, 'migrate')])],
      // The other ways in and the monitor are of kinds that Kubernetes itself does not know.
      ...['ingress', 'ingress-nginx', 'network-policy'].map(
        (name) => [name, readFileSync(path.join(FOLDER, `${name}.yaml`), 'utf8')] as const,
      ),
    ];
    console.log(`By ${schema}`);
    for (const [name, manifests] of rendered) {
      console.log(`${name}:\n${run(kubeconform, [...words, '-'], manifests)}`);
      const wrong = manifests.replace(/^(spec|metadata):$/m, '$1:\n  thisFieldDoesNotExist: 1');
      assert.throws(() => run(kubeconform, [...words, '-'], wrong), /thisFieldDoesNotExist/, 'a wrong field is found');
    }
    // Both name the same settings and image, though they are applied apart.
    const [names, others] = rendered.map(([, text]) => text.match(/purser-settings-\w+|image: .+/g) ?? []);
    assert.deepEqual(new Set(others), new Set(names));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const missing = HOW.flatMap(([there, how]) => (there === undefined ? [how] : []));
if (KUBECTL === undefined || KUBECONFORM === undefined || SCHEMA === undefined) {
  console.log(`Nothing was validated, because this is missing:\n- ${missing.join('\n- ')}`);
} else {
  validate(KUBECTL, KUBECONFORM, SCHEMA);
}
