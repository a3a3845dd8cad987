import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogueSchema } from '../../packages/contract/src/catalogue.ts';
import { readConfig } from '../../packages/service/src/app/settings/config.ts';
import { SERVICE_ROUTES } from '../../packages/service/src/http/openapi/fixed-routes.ts';
import { deployEnvironment, deployText, deployYaml, deployYamls, readImage } from '../support/deploy-files.ts';
import { filledIn } from '../support/guide-blocks.ts';

/** What leads to pods and into them: key files, the network, metrics, and the ways in from outside. */

type Labels = Readonly<Record<string, string>>;

interface Named {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Labels };
}

interface Workload extends Named {
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly labels: Labels };
      readonly spec: {
        readonly containers: readonly {
          readonly ports?: readonly { readonly name: string }[];
          readonly volumeMounts?: readonly {
            readonly name: string;
            readonly mountPath: string;
            readonly readOnly?: boolean;
          }[];
        }[];
        readonly volumes?: readonly { readonly name: string; readonly secret?: object }[];
      };
    };
  };
}

const settings = deployEnvironment('kubernetes/settings/settings.env');
const secrets = deployEnvironment('kubernetes/settings/secret.example.env');
const gateway = deployYaml('kubernetes/gateway.yaml') as Workload;
const { labels } = gateway.spec.template.metadata;
const PORT = gateway.spec.template.spec.containers[0]?.ports?.[0]?.name;
const HOST = new URL(settings['PURSER_PUBLIC_URL'] ?? '').hostname;
const config = readConfig(filledIn({ ...readImage().environment, ...settings, ...secrets }));
const { models } = catalogueSchema.parse(JSON.parse(deployText('kubernetes/settings/catalogue.json')));
const ANSWER_SECONDS_MAX = Math.max(...models.map(({ timeoutMs }) => timeoutMs)) / 1_000;
const STOP_SECONDS = config.stopDelayMs / 1_000;

for (const file of ['gateway.yaml', 'worker.yaml', 'migrate/job.yaml']) {
  test(`OP-17 a pod finds its key files where settings name them: ${file}`, () => {
    const { volumes, containers } = (deployYaml(`kubernetes/${file}`) as Workload).spec.template.spec;
    const keys = volumes?.find(({ secret }) => secret !== undefined);
    assert.deepEqual(keys?.secret, { secretName: 'purser-keys', optional: true });
    const mount = containers[0]?.volumeMounts?.find(({ name }) => name === keys?.name);
    assert.equal(mount?.readOnly, true);
    const [, named = ''] =
      /^# PURSER_PROVIDER_KEYS=(.+)\/[^/]+$/m.exec(deployText('kubernetes/settings/settings.env')) ?? [];
    assert.equal(mount?.mountPath, named);
  });
}

interface Policy extends Named {
  readonly spec: {
    readonly podSelector: { readonly matchLabels: Labels };
    readonly policyTypes: readonly string[];
    readonly ingress?: readonly {
      readonly from: readonly object[];
      readonly ports: readonly { readonly port: string }[];
    }[];
  };
}

test('OP-17 only the ingress and Prometheus reach gateways, nobody other pods', () => {
  const [all, gateways, ...others] = deployYamls('kubernetes/network-policy.yaml') as readonly Policy[];
  assert.deepEqual(others, []);
  assert.deepEqual(all?.spec.podSelector.matchLabels, { 'app.kubernetes.io/name': labels['app.kubernetes.io/name'] });
  assert.deepEqual([all?.spec.policyTypes, all?.spec.ingress], [['Ingress'], undefined]);
  assert.deepEqual(gateways?.spec.podSelector.matchLabels, labels);
  const [rule, ...more] = gateways?.spec.ingress ?? [];
  assert.deepEqual([rule?.from.length, rule?.ports, more], [2, [{ port: PORT }], []]);
});

interface Monitor {
  readonly spec: {
    readonly jobLabel: string;
    readonly selector: { readonly matchLabels: Labels };
    readonly podMetricsEndpoints: readonly {
      readonly port: string;
      readonly path: string;
      readonly authorization: { readonly credentials: { readonly name: string; readonly key: string } };
    }[];
  };
}

test('OP-17 the PodMonitor reads each gateway with the token, as the job of the alerts', () => {
  const { spec } = deployYaml('kubernetes/pod-monitor.yaml') as Monitor;
  assert.deepEqual(spec.selector.matchLabels, labels);
  const [endpoint] = spec.podMetricsEndpoints;
  assert.equal(endpoint?.port, PORT);
  assert.ok(SERVICE_ROUTES.some(({ path }) => path === endpoint?.path));
  assert.ok((endpoint?.authorization.credentials.key ?? '') in secrets);
  const { scrape_configs: scrapes } = deployYaml('prometheus/prometheus.yml') as {
    readonly scrape_configs: readonly { readonly job_name: string }[];
  };
  assert.equal(labels[spec.jobLabel], scrapes[0]?.job_name);
});

const seconds = (text = ''): number => Number(/^(\d+)s?$/.exec(text)?.[1]);

test('OP-17 ingress-nginx waits for answers, passes pieces on and repeats no call', () => {
  const { metadata, spec } = deployYaml('kubernetes/ingress.yaml') as Named & {
    readonly spec: { readonly rules: readonly { readonly host: string }[] };
  };
  const option = (name: string): string | undefined => metadata.annotations?.[`nginx.ingress.kubernetes.io/${name}`];
  assert.equal(option('proxy-buffering'), 'off');
  assert.equal(option('proxy-body-size'), /client_max_body_size (\w+);/.exec(deployText('nginx/purser.conf'))?.[1]);
  assert.ok(seconds(option('proxy-read-timeout')) > ANSWER_SECONDS_MAX);
  assert.doesNotMatch(option('proxy-next-upstream') ?? 'non_idempotent', /non_idempotent|http_/);
  assert.deepEqual(
    spec.rules.map(({ host }) => host),
    [HOST],
  );
  const { data } = deployYaml('kubernetes/ingress-nginx.yaml') as { readonly data: Labels };
  assert.ok(seconds(data['upstream-keepalive-timeout']) < STOP_SECONDS);
});

test('OP-17 Traefik and the Gateway API wait for answers', () => {
  const [transport, route] = deployYamls('kubernetes/traefik.yaml') as readonly (Named & {
    readonly spec: {
      readonly forwardingTimeouts: { readonly responseHeaderTimeout: string; readonly idleConnTimeout: string };
      readonly routes: readonly {
        readonly match: string;
        readonly services: readonly { readonly serversTransport: string }[];
      }[];
    };
  })[];
  const { responseHeaderTimeout, idleConnTimeout } = transport?.spec.forwardingTimeouts ?? {};
  assert.ok(seconds(responseHeaderTimeout) > ANSWER_SECONDS_MAX);
  assert.ok(seconds(idleConnTimeout) < STOP_SECONDS);
  assert.equal(route?.spec.routes[0]?.services[0]?.serversTransport, transport?.metadata.name);
  assert.equal(route?.spec.routes[0]?.match, `Host(\`${HOST}\`) && !Path(\`/metrics\`)`);
  const { spec } = deployYaml('kubernetes/gateway-api.yaml') as {
    readonly spec: { readonly hostnames: readonly string[]; readonly rules: readonly { readonly timeouts: Labels }[] };
  };
  assert.deepEqual(spec.hostnames, [HOST]);
  for (const { timeouts } of spec.rules) {
    for (const name of ['request', 'backendRequest']) assert.ok(seconds(timeouts[name]) > ANSWER_SECONDS_MAX, name);
  }
});
