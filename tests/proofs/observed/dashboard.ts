// `npm run proofs -- dashboard`: asks every query of the dashboard in a real Prometheus that scrapes a service with traffic.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ROOT } from '../../../tools/toolchain.ts';
import { needPrometheus, startPrometheus } from './prometheus.ts';
import { startObserved } from './stage.ts';

interface Dashboard {
  readonly panels: readonly Panel[];
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

/** This is enough for a rate over ten seconds. */
const TRAFFIC_MS = 25_000;
const VALUES: Readonly<Record<string, string>> = { __rate_interval: '10s', instance: '.*', mode: '.*' };

needPrometheus();
const dashboard = JSON.parse(readFileSync(path.join(ROOT, 'deploy/grafana/purser.json'), 'utf8')) as Dashboard;
const observed = await startObserved({ isCalm: false });
const prometheus = await startPrometheus(observed.directory, [observed.service.url], undefined);
let silent = 0;
try {
  await pause(TRAFFIC_MS);
  let asked = 0;
  for (const { title, targets = [] } of dashboard.panels) {
    for (const { expr } of targets) {
      const series = await prometheus.query(withValues(expr));
      const values = series.map(({ value }) => value[1]).filter((value) => value !== 'NaN');
      asked += 1;
      if (values.length === 0) silent += 1;
      console.log(
        `${values.length === 0 ? 'NOTHING' : `${values.length} series`.padEnd(9)} ${title}: ${values.slice(0, 3).join(' ')}`,
      );
      if (values.length === 0) console.log(`  ${expr}`);
    }
  }
  console.log(`${asked} queries, ${silent} of them without a result.`);
} finally {
  await prometheus.stop();
  await observed.close();
}
process.exitCode = silent === 0 ? 0 : 1;

/** Puts in the values as Grafana does with its variables. One that is left over is a fault. */
function withValues(expression: string): string {
  return expression.replaceAll(/\$(\w+)/g, (_text, name: string) => {
    const value = VALUES[name];
    if (value === undefined) throw new Error(`The dashboard has no variable ${name}.`);
    return value;
  });
}
