import { readFileSync } from 'node:fs';
import { DEMO_CATALOGUE_FILE } from '#app/settings/config.ts';
import type { Durability } from '#app/settings/database.ts';
import { parseCatalogueFile } from '#catalogue/catalogue-file.ts';

/** The samples lie beside the packages, in a repository and in an installation. */
const SAMPLES = new URL('../../../../../deploy/', import.meta.url);
const SAMPLE_HOST = /pay\.example\.com/g;
const CERTIFICATES = /\/etc\/ssl\/purser\//g;
/** A value that a shell and systemd read alike without quotes. */
const PLAIN = /^[\w./:@%+=,-]+$/;

export const PROXIES = ['nginx', 'caddy'] as const;
export type Proxy = (typeof PROXIES)[number];

export interface Wanted {
  readonly publicUrl: string;
  readonly proxy: Proxy;
  readonly operatorName: string;
  readonly supportEmail: string;
  readonly databaseUrl: string | undefined;
  readonly durability: Durability;
  readonly secret: string;
  readonly metricsToken: string;
}

/** A file of the folder. `settings` are what `purser.env` sets, for the reader that a start uses. */
export interface SetupFile {
  readonly name: string;
  readonly text: string;
  readonly mode: number;
}

/** Returns the settings, which a start in production takes as they are. */
export function settingsOf(wanted: Wanted): Readonly<Record<string, string>> {
  const { databaseUrl, durability } = wanted;
  return {
    PURSER_ENV: 'production',
    HOST: '127.0.0.1',
    PORT: '8787',
    PURSER_PUBLIC_URL: wanted.publicUrl,
    PURSER_PROXY_HOPS: '1',
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl, PURSER_DATABASE_DURABILITY: durability }),
    PURSER_DATA_DIR: '/var/lib/purser',
    PURSER_SECRET: wanted.secret,
    PURSER_CATALOGUE: '/etc/purser/catalogue.json',
    PURSER_OPERATOR_NAME: wanted.operatorName,
    PURSER_SUPPORT_EMAIL: wanted.supportEmail,
    PURSER_METRICS_TOKEN: wanted.metricsToken,
  };
}

/** Returns the files that a server needs. Their texts are the samples of `deploy`, with the host in them. */
export function filesOf(wanted: Wanted): readonly SetupFile[] {
  const lines = Object.entries(settingsOf(wanted)).map(([name, value]) => `${name}=${quoted(value)}\n`);
  return [
    { name: 'purser.env', text: lines.join(''), mode: 0o600 },
    { name: 'catalogue.json', text: catalogueToFill(), mode: 0o644 },
    siteOf(wanted),
    { name: 'purser.service', text: sample('systemd/purser.service'), mode: 0o644 },
    { name: 'purserctl', text: sample('systemd/purserctl'), mode: 0o755 },
  ];
}

function siteOf({ proxy, publicUrl }: Wanted): SetupFile {
  const { hostname } = new URL(publicUrl);
  if (proxy === 'caddy')
    return { name: 'Caddyfile', text: sample('caddy/Caddyfile').replaceAll(SAMPLE_HOST, hostname), mode: 0o644 };
  const site = sample('nginx/purser.conf').replaceAll(SAMPLE_HOST, hostname);
  return {
    name: 'purser.conf',
    text: site.replaceAll(CERTIFICATES, `/etc/letsencrypt/live/${hostname}/`),
    mode: 0o644,
  };
}

/** The catalogue of the demo without the simulator, which production refuses. */
function catalogueToFill(): string {
  const text = readFileSync(DEMO_CATALOGUE_FILE, 'utf8');
  const { providers } = parseCatalogueFile(text);
  const file = JSON.parse(text) as {
    readonly providers: Readonly<Record<string, unknown>>;
    readonly models: readonly { readonly id: string; readonly provider?: string }[];
    readonly aliases?: Readonly<Record<string, string>>;
  };
  const isReal = (name: string | undefined): boolean => name !== undefined && providers[name]?.kind !== 'simulator';
  const models = file.models.filter(({ provider }) => isReal(provider));
  const ids = new Set(models.map(({ id }) => id));
  const kept = {
    ...file,
    providers: Object.fromEntries(Object.entries(file.providers).filter(([name]) => isReal(name))),
    models,
    aliases: Object.fromEntries(Object.entries(file.aliases ?? {}).filter(([, id]) => ids.has(id))),
  };
  return `${JSON.stringify(kept, undefined, 2)}\n`;
}

function sample(name: string): string {
  return readFileSync(new URL(name, SAMPLES), 'utf8');
}

/** Quoted as a shell and systemd both read it: neither looks into single quotes. */
function quoted(value: string): string {
  return PLAIN.test(value) ? value : `'${value}'`;
}
