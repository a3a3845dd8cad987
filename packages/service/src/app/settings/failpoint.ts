import type { SettingsReader } from '#app/environment/settings-reader.ts';
import { type ArmedFailpoint, FAILPOINTS } from '#kernel/faults/failpoint.ts';

/** Parses `name:hit:act`, where `hit` is the number of the passage at which the process dies or stops. */
export function readFailpoint(settings: SettingsReader, environment: string): ArmedFailpoint | undefined {
  const value = settings.text('PURSER_FAILPOINT');
  if (value === undefined) return undefined;
  if (environment === 'production') {
    settings.complain('PURSER_FAILPOINT makes the process die on purpose, for tests. Remove it in production.');
    return undefined;
  }
  const [, asked, hit, act] = /^([a-z.-]+):([1-9]\d{0,5}):(kill|stop)$/.exec(value) ?? [];
  const name = FAILPOINTS.find((one) => one === asked);
  if (name !== undefined && (act === 'kill' || act === 'stop')) return { name, hit: Number(hit), act };
  settings.complain(
    'PURSER_FAILPOINT must look like `chat.arrived:1:kill`. The names are in kernel/faults/failpoint.ts.',
  );
  return undefined;
}
