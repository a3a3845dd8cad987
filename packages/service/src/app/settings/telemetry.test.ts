import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from '#app/environment/settings-reader.ts';
import { readTelemetry } from '#app/settings/telemetry.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.test:4318/' };

function faultsOf(environment: Readonly<Record<string, string>>): readonly string[] {
  const settings = readSettings({ ...ENDPOINT, ...environment });
  readTelemetry(settings);
  return settings.faults();
}

test('OP-07 without an endpoint, or disabled, nothing is exported', () => {
  assert.equal(readTelemetry(readSettings({ OTEL_SERVICE_NAME: 'pay' })), undefined);
  assert.equal(readTelemetry(readSettings({ ...ENDPOINT, OTEL_SDK_DISABLED: 'true' })), undefined);
  const none = { OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' };
  assert.equal(readTelemetry(readSettings({ ...ENDPOINT, ...none })), undefined);
});

test('OP-07 a general endpoint is a base, a specific one verbatim', () => {
  const own = { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'https://metrics.test/otlp', OTEL_SERVICE_NAME: 'pay' };
  const settings = readSettings({ ...ENDPOINT, ...own, OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20b,x=1' });
  const read = readTelemetry(settings);
  assert.deepEqual(settings.faults(), []);
  assert.equal(read?.traces?.url, 'http://collector.test:4318/v1/traces');
  assert.equal(read.metrics?.url, 'https://metrics.test/otlp');
  assert.deepEqual(read.traces.headers, { 'api-key': 'a b', x: '1' });
  assert.deepEqual(
    [read.traces.protocol, read.traces.timeoutMs, read.traces.isCompressed],
    ['http/protobuf', 10_000, false],
  );
  assert.deepEqual(read.resource, { 'service.name': 'pay' });
  assert.deepEqual(read.sampler, { followsParent: true, share: 1 });
});

test('OP-07 specific settings override general ones', () => {
  const read = readTelemetry(
    readSettings({
      ...ENDPOINT,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x=2',
      OTEL_EXPORTER_OTLP_HEADERS: 'x=1,y=1',
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,deployment.environment.name=prod',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.1',
    }),
  );
  assert.deepEqual([read?.traces?.protocol, read?.metrics?.protocol], ['http/json', 'http/protobuf']);
  assert.deepEqual(
    [read?.traces?.headers, read?.metrics?.headers],
    [
      { x: '2', y: '1' },
      { x: '1', y: '1' },
    ],
  );
  assert.deepEqual(read?.resource, { 'service.name': 'other', 'deployment.environment.name': 'prod' });
  assert.deepEqual(read.sampler, { followsParent: false, share: 0.1 });
});

test('OP-07 ER-03 unusable settings are refused at the start without quoting them', () => {
  const wrong = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'collector-secret:4318',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_HEADERS: 'secret',
    OTEL_RESOURCE_ATTRIBUTES: 'a=%zz',
    OTEL_TRACES_SAMPLER: 'jaeger_remote',
    OTEL_METRIC_EXPORT_INTERVAL: '0',
  };
  for (const [name, value] of Object.entries(wrong)) {
    const faults = faultsOf({ [name]: value });
    assert.ok(faults.length > 0, name);
    assert.ok(!faults.join().includes('secret'), name);
  }
  for (const share of ['-0.1', '1.1', 'x', ' ']) {
    assert.equal(faultsOf({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: share }).length, 1, share);
  }
});
