import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { spanIdOf, SPAN_PARTS } from '../../packages/service/src/gateway/call/call-span.ts';
import { chat } from '../support/client.ts';
import { scrape } from '../support/metrics.ts';
import { type Metric, metricsIn, type ReceivedSpan, startOtlpReceiver, valuesOf } from '../support/otlp-receiver.ts';
import { completionBody, startScriptedUpstream, streamSteps } from '../support/scripted-upstream.ts';
import { startTestService } from '../support/service.ts';
import { catalogueOf, scriptModels } from '../support/several-upstreams.ts';
import { waitUntil } from '../support/wait-until.ts';

/** A service whose operator collects OpenTelemetry, and a receiver that decodes what comes with the published schema. */

const PROMPT = 'Hello from a canary';
const ANSWER = 'An answer of a canary';
const USER = 'canary@example.test';
const COLLECTOR_KEY = 'the-key-of-the-collector';
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const SERVER = 2;
const CLIENT = 3;

const receiver = await startOtlpReceiver();
const servers = { near: await startScriptedUpstream(), far: await startScriptedUpstream() };
const near = scriptModels(servers.near);
const far = scriptModels(servers.far);
const catalogue = catalogueOf(servers, {
  pair: [
    { provider: 'near', micros: 1 },
    { provider: 'far', micros: 2 },
  ],
  broken: [{ provider: 'far', micros: 1 }],
});
const own = { ...catalogue.providers['near'], traceContext: true };
const service = await startTestService(
  { ...catalogue, providers: { ...catalogue.providers, near: own } },
  {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_HEADERS: `x-collector-key=${COLLECTOR_KEY}`,
    OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_METRICS_COMPRESSION: 'gzip',
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    OTEL_SERVICE_NAME: 'pay',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_BSP_SCHEDULE_DELAY: '20',
    OTEL_METRIC_EXPORT_INTERVAL: '100',
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '1',
  },
);
service.keepSecret(COLLECTOR_KEY);
const app = await service.addApp();
await service.fund(app, USER, 1_000_000);
after(async () => {
  await service.close();
  await Promise.all(Object.values(servers).map(({ close }) => close()));
  receiver.close();
});

interface Asking {
  readonly key?: string;
  readonly user?: string;
  readonly stream?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

function ask(model: string, correlationId: string, { key = app.liveKey, user = USER, stream, headers }: Asking = {}) {
  const messages = [{ role: 'user', content: PROMPT }];
  const options = { url: service.url, key, user, headers: { 'x-correlation-id': correlationId, ...headers } };
  return chat(options, { model: `acme.${model}`, messages, ...(stream === true && { stream }) });
}

const USAGE = { prompt_tokens: 30, completion_tokens: 7, total_tokens: 37 };
const whole = { body: completionBody({ model: 'm', content: ANSWER, usage: USAGE }) };

function wholeCall(correlationId: string): ReceivedSpan | undefined {
  return receiver.spans().find(({ attributes }) => attributes['purser.correlation.id'] === correlationId);
}

/** The exported spans of a call, the whole call first. */
async function spansOf(correlationId: string): Promise<readonly [ReceivedSpan, ...ReceivedSpan[]]> {
  const root = await waitUntil('the call is exported', () => wholeCall(correlationId));
  return [root, ...receiver.spans().filter(({ parentSpanId }) => parentSpanId === root.spanId)];
}

test('OP-07 CC-16 a call with a fallback is one trace', async () => {
  near.script('pair', { status: 503, body: '{}' });
  far.script('pair', whole);
  const traceparent = `00-${TRACE}-${PARENT}-01`;
  const reply = await ask('pair', 'outage', { headers: { traceparent, tracestate: 'rojo=1,congo=2' } });
  assert.equal(reply.status, 200, reply.text);
  const [root, ...parts] = await spansOf('outage');
  assert.deepEqual(
    [root.traceId, root.parentSpanId, root.traceState, root.kind, root.flags, root.hasFailed],
    [TRACE, PARENT, 'rojo=1,congo=2', SERVER, 0x301, false],
  );
  assert.deepEqual(
    parts.map(({ name, kind, hasFailed }) => [name, kind, hasFailed]),
    [
      ['admission', 1, false],
      ['hold', 1, false],
      ['chat pair-upstream', CLIENT, true],
      ['chat pair-upstream', CLIENT, false],
      ['settlement', 1, false],
    ],
  );
  const [, , failed, answered] = parts;
  assert.deepEqual(failed?.attributes, {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'near',
    'gen_ai.request.model': 'pair-upstream',
    'gen_ai.request.stream': false,
    'purser.provider': 'near',
    'error.type': 'outage',
    'http.response.status_code': 503,
  });
  assert.deepEqual(answered?.attributes, {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'far',
    'gen_ai.request.model': 'pair-upstream',
    'gen_ai.request.stream': false,
    'gen_ai.response.model': 'pair-upstream',
    'gen_ai.usage.input_tokens': 30,
    'gen_ai.usage.output_tokens': 7,
    'purser.provider': 'far',
    'http.request.resend_count': 1,
  });
  const { 'purser.call.id': callId, 'purser.charged.micros': charged, ...rest } = root.attributes;
  assert.equal(callId, reply.headers.get('x-service-call-id'));
  assert.equal(charged, 74);
  assert.deepEqual(rest, {
    'http.request.method': 'POST',
    'http.route': '/v1/chat/completions',
    'http.response.status_code': 200,
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'acme.pair',
    'gen_ai.request.stream': false,
    'gen_ai.response.model': 'pair-upstream',
    'purser.mode': 'live',
    'purser.outcome': 'answered',
    'purser.app.id': app.appId,
    'purser.correlation.id': 'outage',
    'purser.tries': 2,
    'purser.charged.input_tokens': 30,
    'purser.charged.output_tokens': 7,
  });
  let before = root.startNanos;
  for (const { startNanos, endNanos } of parts) {
    assert.ok(before <= startNanos && startNanos <= endNanos && endNanos <= root.endNanos);
    before = startNanos;
  }
  assert.ok(Math.abs(Number(root.endNanos / 1_000_000n) - Date.now()) < 60_000, 'times are those of the wall clock');
  assert.deepEqual([root.resource['service.name'], root.resource['deployment.environment.name']], ['pay', 'test']);
});

test('OP-07 CC-13 a provider gets the trace only by its entry', async () => {
  const [request, other] = [servers.near, servers.far].map(({ requests }) => requests.at(-1)?.headers);
  const [, , , failed] = await spansOf('outage');
  assert.deepEqual(
    [request?.['traceparent'], request?.['tracestate']],
    [`00-${TRACE}-${failed?.spanId}-01`, 'rojo=1,congo=2'],
  );
  assert.deepEqual([other?.['traceparent'], other?.['tracestate']], [undefined, undefined]);
  near.script('pair', {
    body: streamSteps({ model: 'm', pieces: [ANSWER], usage: USAGE, includeUsageChunk: true }),
  });
  const reply = await ask('pair', 'streamed', { stream: true, headers: { traceparent: 'CANARY' } });
  assert.equal(reply.status, 200);
  for (const name of ['traceparent', 'tracestate', 'traceresponse', 'server-timing']) {
    assert.equal(reply.headers.get(name), null, name);
  }
  const [root, ...parts] = await spansOf('streamed');
  assert.deepEqual([root.parentSpanId, root.traceState], [undefined, undefined], 'an invalid parent is none');
  const answered = parts.find(({ kind }) => kind === CLIENT);
  assert.equal(servers.near.requests.at(-1)?.headers['traceparent'], `00-${root.traceId}-${answered?.spanId}-01`);
  const first = Number(answered?.attributes['gen_ai.response.time_to_first_chunk']);
  assert.ok(first > 0 && first < 60, String(first));
  assert.equal(service.linesOf('streamed').find(({ msg }) => msg === 'call')?.['traceId'], root.traceId);
});

test('OP-07 traces distinguish refused, failed and sandbox calls', async () => {
  far.script('broken', { status: 500, body: `{"error":{"message":"${PROMPT}"}}` });
  assert.equal((await ask('broken', 'failed')).status, 502);
  assert.equal((await ask('broken', 'refused', { user: 'nobody' })).status, 402);
  assert.equal((await ask('broken', 'play', { key: app.testKey })).status, 200);
  assert.equal((await ask('broken', 'unknown', { key: 'sk-unknown' })).status, 401);
  // A caller that keeps no trace has none here either.
  const unwanted = { traceparent: `00-${TRACE}-${PARENT}-00` };
  assert.equal((await ask('broken', 'unwanted', { headers: unwanted })).status, 502);
  const [failed, ...parts] = await spansOf('failed');
  assert.equal(failed.hasFailed, true);
  assert.deepEqual(
    [failed.attributes['purser.outcome'], failed.attributes['error.type']],
    ['failed', 'UPSTREAM_PROVIDER_ERROR'],
  );
  assert.deepEqual(
    parts.filter(({ kind }) => kind === CLIENT).map(({ attributes }) => attributes['error.type']),
    ['outage'],
  );
  const [refused, ...steps] = await spansOf('refused');
  assert.equal(refused.hasFailed, false, 'a refusal is no fault of the service');
  assert.deepEqual(
    [refused.attributes['purser.code'], steps.map(({ name }) => name)],
    ['PAYMENT_REQUIRED', ['admission', 'hold']],
  );
  assert.equal(steps[1]?.spanId, spanIdOf(refused, SPAN_PARTS.hold));
  const [play, ...played] = await spansOf('play');
  assert.equal(play.attributes['purser.mode'], 'sandbox');
  assert.ok(!played.some(({ kind }) => kind === CLIENT), 'the sandbox asks no provider');
  await ask('broken', 'last', { user: 'nobody' });
  await spansOf('last'); // All calls before it have been exported by now.
  assert.deepEqual([wholeCall('unknown'), wholeCall('unwanted')], [undefined, undefined]);
});

test('OP-07 a silent collector costs no call anything', async () => {
  near.script('pair', whole);
  receiver.answer('hang');
  const replies = await Promise.all(['slow-1', 'slow-2'].map((id) => ask('pair', id)));
  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 200],
  );
  await waitUntil('a request waits', () => receiver.hanging() > 0);
  assert.equal(wholeCall('slow-1'), undefined);
  receiver.answer(200);
  await spansOf('slow-1');
  await spansOf('slow-2');
});

test('OP-07 exported metrics match those of `/metrics`', async () => {
  const shown = await scrape(service.url);
  const metrics = await waitUntil('metrics of the present came', () => {
    const latest = receiver.requests.findLast(({ path }) => path === '/v1/metrics');
    const found = latest && metricsIn(latest.message);
    return found !== undefined && callsIn(found) === shown.get(CALLS) ? found : undefined;
  });
  const names = new Set([...shown.keys()].map((name) => name.replace(/\{.*/, '')));
  const sent = new Set(metrics.map(({ name }) => name));
  for (const name of names) assert.ok(sent.has(name.replace(/_(bucket|sum|count)$/, '')) || sent.has(name), name);
  const calls = metrics.find(({ name }) => name === 'purser_calls_total');
  assert.equal(calls?.sum?.isMonotonic, true);
  const times = metrics.find(({ name }) => name === 'purser_call_seconds')?.histogram?.dataPoints ?? [];
  const seen = times.filter(({ attributes }) => valuesOf(attributes)['model'] === 'acme.pair');
  const counted = seen.reduce((sum, { count }) => sum + Number(count), 0);
  const [key = ''] = [...shown.keys()].filter((name) => /^purser_call_seconds_count\{model="acme.pair"/.test(name));
  assert.ok(counted > 0 && counted >= (shown.get(key) ?? Infinity), `${counted} of ${key}`);
});

const CALLS = 'purser_calls_total{mode="live",outcome="answered"}';

function callsIn(metrics: readonly Metric[]): number | undefined {
  const points = metrics.find(({ name }) => name === 'purser_calls_total')?.sum?.dataPoints ?? [];
  const found = points.find(({ attributes }) => {
    const { mode, outcome } = valuesOf(attributes);
    return mode === 'live' && outcome === 'answered';
  });
  return found?.asDouble;
}

test('OP-07 ER-03 exports hold no prompt, answer, user or key', () => {
  assert.ok(receiver.requests.length > 3);
  for (const { bytes, headers } of receiver.requests) {
    assert.equal(headers['x-collector-key'], COLLECTOR_KEY);
    const text = bytes.toString('latin1');
    for (const secret of [PROMPT, ANSWER, USER, app.liveKey, app.testKey, COLLECTOR_KEY, 'CANARY', 'sk-unknown']) {
      assert.ok(!text.includes(secret), secret);
    }
  }
});
