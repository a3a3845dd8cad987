import type { SettingsReader } from '#app/environment/settings-reader.ts';
import type { OtlpTarget, Sampler, TelemetrySettings } from '#telemetry/settings.ts';

type Kind = 'traces' | 'metrics';

const PROTOCOLS = ['http/protobuf', 'http/json'] as const;
const TIMEOUT = { least: 1, most: 60_000 };
const INTERVAL = { least: 100, most: 3_600_000 };
/** A name and a value of a header, as RFC 9110 allows them. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

/**
 * Reads OpenTelemetry's standard settings. Undefined if no endpoint is set: then nothing of it is loaded. Complaints quote no
 * value, because headers and addresses may hold a key of the collector's.
 */
export function readTelemetry(settings: SettingsReader): TelemetrySettings | undefined {
  const isOff = settings.text('OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
  const traces = readTarget(settings, 'traces');
  const metrics = readTarget(settings, 'metrics');
  if (isOff || (traces === undefined && metrics === undefined)) return undefined;
  return {
    traces,
    metrics,
    resource: readResource(settings),
    sampler: readSampler(settings),
    tracesEveryMs: settings.whole('OTEL_BSP_SCHEDULE_DELAY', { least: 10, most: 60_000 }, 1_000),
    metricsEveryMs: settings.whole('OTEL_METRIC_EXPORT_INTERVAL', INTERVAL, 60_000),
  };
}

/** A variable for all kinds. */
function both(name: string): string {
  return `OTEL_EXPORTER_OTLP_${name}`;
}

/** The variables of a kind go before those of all kinds. */
function readTarget(settings: SettingsReader, kind: Kind): OtlpTarget | undefined {
  const own = (name: string) => `OTEL_EXPORTER_OTLP_${kind.toUpperCase()}_${name}`;
  const either = (name: string) => (settings.text(own(name)) === undefined ? both(name) : own(name));
  const exporter = settings.choice(`OTEL_${kind.toUpperCase()}_EXPORTER`, ['otlp', 'none'], 'otlp');
  const url = readEndpoint(settings, kind, { own: own('ENDPOINT'), both: both('ENDPOINT') });
  if (url === undefined || exporter === 'none') return undefined;
  return {
    url,
    protocol: readProtocol(settings, either('PROTOCOL')),
    headers: { ...readPairs(settings, both('HEADERS'), isHeader), ...readPairs(settings, own('HEADERS'), isHeader) },
    timeoutMs: settings.whole(either('TIMEOUT'), TIMEOUT, 10_000),
    isCompressed: settings.choice(either('COMPRESSION'), ['gzip', 'none'], 'none') === 'gzip',
  };
}

/** The endpoint of a kind is used as it is. That of all kinds is a base, and the path of the kind is added to it. */
function readEndpoint(
  settings: SettingsReader,
  kind: Kind,
  names: { readonly own: string; readonly both: string },
): string | undefined {
  const own = readUrl(settings, names.own);
  const base = readUrl(settings, names.both);
  if (own !== undefined) return own.href;
  if (base === undefined) return undefined;
  base.pathname = `${base.pathname.replace(/\/+$/, '')}/v1/${kind}`;
  return base.href;
}

function readUrl(settings: SettingsReader, name: string): URL | undefined {
  const text = settings.text(name);
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  settings.complain(`${name} must be an http or https URL, such as http://localhost:4318.`);
  return undefined;
}

function readProtocol(settings: SettingsReader, name: string): OtlpTarget['protocol'] {
  const value = settings.text(name) ?? 'http/protobuf';
  const protocol = PROTOCOLS.find((one) => one === value);
  if (protocol !== undefined) return protocol;
  settings.complain(
    `${name} must be http/protobuf or http/json. A collector takes both on port 4318; gRPC, on port 4317, is not supported.`,
  );
  return 'http/protobuf';
}

/** Reads `name=value,other=value`. Values may be percent-encoded. */
function readPairs(
  settings: SettingsReader,
  name: string,
  isAllowed: (key: string, value: string) => boolean,
): Readonly<Record<string, string>> {
  const pairs: [string, string][] = [];
  for (const part of (settings.text(name) ?? '').split(',')) {
    if (part.trim() === '') continue;
    const at = part.indexOf('=');
    const key = part.slice(0, Math.max(at, 0)).trim();
    const value = decoded(part.slice(at + 1).trim());
    if (key !== '' && value !== undefined && isAllowed(key, value)) pairs.push([key, value]);
    else settings.complain(`${name} must look like name=value,other=value, with other characters percent-encoded.`);
  }
  return Object.fromEntries(pairs);
}

function isHeader(name: string, value: string): boolean {
  return HEADER_NAME.test(name) && HEADER_VALUE.test(value);
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function readResource(settings: SettingsReader): Readonly<Record<string, string>> {
  const given = readPairs(settings, 'OTEL_RESOURCE_ATTRIBUTES', () => true);
  const name = settings.text('OTEL_SERVICE_NAME') ?? given['service.name'] ?? 'purser';
  return { ...given, 'service.name': name };
}

const SAMPLERS = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const;

function readSampler(settings: SettingsReader): Sampler {
  const name = settings.choice('OTEL_TRACES_SAMPLER', SAMPLERS, 'parentbased_always_on');
  return { followsParent: name.startsWith('parentbased_'), share: shareOf(settings, name) };
}

function shareOf(settings: SettingsReader, name: (typeof SAMPLERS)[number]): number {
  const text = settings.text('OTEL_TRACES_SAMPLER_ARG');
  if (name.endsWith('always_on')) return 1;
  if (name.endsWith('always_off')) return 0;
  const share = text === undefined ? 1 : Number(text);
  if (text?.trim() !== '' && share >= 0 && share <= 1) return share;
  settings.complain('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1: the share of traces to keep.');
  return 1;
}
