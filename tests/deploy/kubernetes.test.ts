import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogueSchema } from '../../packages/contract/src/catalogue.ts';
import { readConfig } from '../../packages/service/src/app/settings/config.ts';
import { SERVICE_ROUTES } from '../../packages/service/src/http/openapi/fixed-routes.ts';
import { deployEnvironment, deployText, deployYaml, deployYamls, readImage } from '../support/deploy-files.ts';
import { filledIn, settingNames } from '../support/guide-blocks.ts';

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly env?: unknown;
  readonly envFrom: readonly object[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly securityContext: object;
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly automountServiceAccountToken: boolean;
  readonly enableServiceLinks: boolean;
  readonly securityContext: { readonly runAsNonRoot: boolean; readonly fsGroup?: number };
  readonly containers: readonly [Container];
}

type Labels = Readonly<Record<string, string>>;

interface Workload {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas?: number;
    readonly serviceName?: string;
    readonly selector: { readonly matchLabels: Labels };
    readonly template: { readonly metadata: { readonly labels: Labels }; readonly spec: Pod };
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  };
}

interface Kustomization {
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly configMapGenerator?: readonly { readonly name: string }[];
}

/** What the guide for operators asks for beyond the two settings of a stop. */
const STOP_MARGIN_SECONDS = 20;

const image = readImage();
const settings = deployEnvironment('kubernetes/settings/settings.env');
const secrets = deployEnvironment('kubernetes/settings/secret.example.env');
const gateway = deployYaml('kubernetes/gateway.yaml') as Workload;
const worker = deployYaml('kubernetes/worker.yaml') as Workload;
const migration = deployYaml('kubernetes/migrate/job.yaml') as Workload;

test('OP-17 production starts with the Kubernetes example’s settings', () => {
  for (const name of [...Object.keys(settings), ...Object.keys(secrets)]) {
    assert.ok(settingNames().has(name) || name.endsWith('_API_KEY'), name);
  }
  for (const name of Object.keys(settings)) assert.ok(!(name in secrets), `${name} is in both`);
  const all = { ...image.environment, ...settings, ...secrets };
  assert.throws(() => readConfig(all), /^Error: PURSER_SECRET is still the placeholder/);
  const config = readConfig(filledIn(all));
  assert.equal(config.environment, 'production');
  const catalogue = catalogueSchema.parse(JSON.parse(deployText('kubernetes/settings/catalogue.json')));
  assert.ok(Object.values(catalogue.providers).every(({ kind }) => kind !== 'simulator'));
});

test('OP-17 probes use existing routes, only readiness the database', () => {
  const { ports, startupProbe, readinessProbe, livenessProbe } = gateway.spec.template.spec.containers[0];
  assert.deepEqual(
    ports?.map(({ containerPort }) => containerPort),
    [image.port],
  );
  for (const probe of [startupProbe, readinessProbe, livenessProbe]) {
    assert.equal(probe?.httpGet.port, ports?.[0]?.name);
    assert.ok(
      SERVICE_ROUTES.some(({ path }) => path === probe?.httpGet.path),
      String(probe?.httpGet.path),
    );
  }
  assert.equal(readinessProbe?.httpGet.path, '/readyz');
  assert.equal(livenessProbe?.httpGet.path, '/healthz');
});

test('OP-17 Kubernetes gives a gateway the time its stop takes', () => {
  const { stopDelayMs, stopCallsMs } = readConfig(filledIn({ ...image.environment, ...settings, ...secrets }));
  assert.ok(stopDelayMs > 0, 'load balancers need a moment');
  const { terminationGracePeriodSeconds } = gateway.spec.template.spec;
  assert.ok(terminationGracePeriodSeconds >= (stopDelayMs + stopCallsMs) / 1_000 + STOP_MARGIN_SECONDS);
});

test('OP-17 pods get least privilege; secrets are only named', () => {
  const commands = { serve: gateway, work: worker, migrate: migration };
  for (const [command, { spec }] of Object.entries(commands)) {
    const { securityContext, ...pod } = spec.template.spec;
    assert.deepEqual(pod.containers[0].args, [command]);
    assert.equal(securityContext.runAsNonRoot, true, command);
    assert.equal(pod.automountServiceAccountToken, false, command);
    assert.equal(pod.enableServiceLinks, false, `${command}: variables such as PURSER_PORT would look like settings`);
    for (const container of pod.containers) {
      assert.equal(container.image, 'purser', 'the kustomization names the image');
      assert.equal(container.env, undefined, command);
      assert.deepEqual(container.envFrom, [
        { configMapRef: { name: 'purser-settings' } },
        { secretRef: { name: 'purser' } },
      ]);
      assert.deepEqual(container.securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  }
});

test('OP-17 each gateway has a writable disk for charges', () => {
  const { spec } = gateway;
  const { containers, securityContext } = spec.template.spec;
  const disk = containers[0].volumeMounts?.find(({ mountPath }) => mountPath === image.volume)?.name;
  assert.ok(
    spec.volumeClaimTemplates?.some(({ metadata }) => metadata.name === disk),
    String(disk),
  );
  assert.equal(`${securityContext.fsGroup}:${securityContext.fsGroup}`, image.user);
  assert.ok((spec.replicas ?? 0) >= 2, 'a roll takes one away');
});

test('OP-17 services, disruption budget and kustomizations name what exists', () => {
  const labels = gateway.spec.template.metadata.labels;
  type Service = { readonly metadata: { readonly name: string }; readonly spec: { readonly selector: Labels } };
  const services = deployYamls('kubernetes/service.yaml') as readonly Service[];
  for (const { spec } of services) assert.deepEqual(spec.selector, labels);
  assert.ok(services.some(({ metadata }) => metadata.name === gateway.spec.serviceName));
  const budget = deployYaml('kubernetes/disruption-budget.yaml') as Workload;
  assert.deepEqual(budget.spec.selector.matchLabels, labels);
  for (const { spec } of [gateway, worker]) assert.deepEqual(spec.selector.matchLabels, spec.template.metadata.labels);
  for (const folder of ['kubernetes', 'kubernetes/migrate']) {
    const { resources = [], components } = deployYaml(`${folder}/kustomization.yaml`) as Kustomization;
    for (const file of resources) assert.ok(deployYamls(`${folder}/${file}`).length > 0, file);
    assert.equal(components?.length, 1);
  }
  const { configMapGenerator = [] } = deployYaml('kubernetes/settings/kustomization.yaml') as Kustomization;
  assert.deepEqual(
    configMapGenerator.map(({ name }) => name),
    ['purser-settings', 'purser-catalogue'],
  );
});
