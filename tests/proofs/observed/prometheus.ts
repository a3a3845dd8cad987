// A real Prometheus that scrapes the service of a try.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findFreePort } from '../../../packages/service/src/embedded/server/free-port.ts';
import { ROOT } from '../../../tools/toolchain.ts';
import { waitUntil } from '../../support/wait-until.ts';

export type Prometheus = Awaited<ReturnType<typeof startPrometheus>>;

interface QuerySeries {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [seconds: number, value: string];
}

interface ActiveAlert {
  readonly labels: Readonly<Record<string, string>> & { readonly alertname: string };
  readonly annotations: { readonly summary: string };
  readonly state: 'pending' | 'firing';
}

/** Says how to get it, and ends this program, if it is not installed. */
export function needPrometheus(): void {
  try {
    execFileSync('prometheus', ['--version'], { stdio: 'ignore' });
  } catch {
    console.error('Prometheus is missing. Install it (Debian: apt-get install prometheus) and try again.');
    process.exit(1);
  }
}

/**
 * Scrapes the targets every second, and evaluates the alerts as often. The rules are ours, with the same expressions; only `for`,
 * the time that an alert must be true before it fires, is shortened to `forSeconds`.
 */
export async function startPrometheus(directory: string, targets: readonly string[], forSeconds: number | undefined) {
  const folder = path.join(directory, 'prometheus');
  mkdirSync(folder);
  const rules = readFileSync(path.join(ROOT, 'deploy/prometheus/purser.rules.yml'), 'utf8');
  const shortened = forSeconds === undefined ? rules : rules.replaceAll(/^( +for): .*$/gm, `$1: ${forSeconds}s`);
  writeFileSync(path.join(folder, 'purser.rules.yml'), shortened);
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: ['purser.rules.yml'],
    scrape_configs: [{ job_name: 'purser', static_configs: [{ targets: targets.map((url) => new URL(url).host) }] }],
  };
  const file = path.join(folder, 'prometheus.yml');
  writeFileSync(file, JSON.stringify(config)); // JSON is YAML.
  const url = `http://127.0.0.1:${await findFreePort()}`;
  const listen = `--web.listen-address=${new URL(url).host}`;
  const storage = `--storage.tsdb.path=${path.join(folder, 'data')}`;
  const child = spawn('prometheus', [`--config.file=${file}`, listen, storage, '--log.level=error'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  await waitUntil('Prometheus is ready', async () => {
    if (child.exitCode !== null) throw new Error('Prometheus has ended.');
    return (await fetch(`${url}/-/ready`).catch(() => undefined))?.ok === true;
  });
  const get = async (place: string): Promise<{ readonly data: Readonly<Record<string, unknown>> }> => {
    const response = await fetch(url + place);
    const body = (await response.json()) as {
      readonly data: Readonly<Record<string, unknown>>;
      readonly error?: string;
    };
    if (!response.ok) throw new Error(`${place}: ${body.error}`);
    return body;
  };
  return {
    url,
    /** How many series have a value at the moment, or within the last minutes. */
    query: async (expression: string) => {
      const { data } = await get(`/api/v1/query?query=${encodeURIComponent(expression)}`);
      return data['result'] as readonly QuerySeries[];
    },
    alerts: async () => (await get('/api/v1/alerts')).data['alerts'] as readonly ActiveAlert[],
    stop: async () => {
      if (child.exitCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}
