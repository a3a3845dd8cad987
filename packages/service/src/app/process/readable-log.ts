import type { LogSettings } from '#app/settings/log.ts';
import { dateOf, epochMsOf } from '#kernel/time/clock.ts';
import { createLog, type Log } from '#kernel/log.ts';
import { micros } from '#kernel/values/micros.ts';
import { formatsOf } from '#web/format/formats.ts';

type Line = Readonly<Record<string, unknown>>;

interface Output {
  /** A terminal says whether it shows colours; `NO_COLOR` switches them off. */
  readonly hasColors?: () => boolean;
  readonly write: (text: string) => unknown;
}

/** Opens the log of a process: JSON lines, or the same lines as text for the person at the terminal. */
export function openLog(
  { logLevel, logFormat, currency }: LogSettings & { readonly currency: string },
  output: Output = process.stdout,
): Log {
  if (logFormat === 'json') return createLog(logLevel);
  const readable = createReadable({ currency, isColoured: output.hasColors?.() === true });
  return createLog(logLevel, { write: (line) => void output.write(readable(line)) });
}

const COLOURS = { dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
const PLAIN = /^[\w.:/@+-]*$/;
/** Control characters other than the end of a line. */
const CONTROL = /[^\P{Cc}\n]/gu;
const METHOD_WIDTH = 4;

interface ReadableOptions {
  /** The ISO 4217 code of the currency in which charges are shown. */
  readonly currency: string;
  readonly isColoured: boolean;
}

/** Returns what turns a JSON line of the log into a line for people. A request looks as it does in the logs of other servers. */
export function createReadable({ currency, isColoured }: ReadableOptions): (json: string) => string {
  const { amount } = formatsOf('en');
  const paint = (colour: keyof typeof COLOURS, text: string): string =>
    isColoured ? `\u001B[${COLOURS[colour]}m${text}\u001B[0m` : text;

  function statusOf(status: unknown): string {
    if (typeof status !== 'number') return paint('yellow', '---'); // The caller left before there was a status.
    const colour = status >= 500 ? 'red' : status >= 400 ? 'yellow' : status >= 300 ? 'cyan' : 'green';
    return paint(colour, String(status));
  }

  function requestOf(line: Line, method: string, path: string, facts: readonly string[]): string {
    const took = `${String(line['durationMs'])} ms`;
    return [method.padEnd(METHOD_WIDTH), path, statusOf(line['status']), took, ...facts].join(' ');
  }

  function callOf(line: Line): string {
    const { method = 'POST', path, model, outcome, code, mode, chargedMicros, firstByteMs } = line;
    const facts = [model, typeof firstByteMs === 'number' ? `first byte ${firstByteMs} ms` : undefined, code];
    const charged = typeof chargedMicros === 'number' && chargedMicros > 0;
    if (charged) facts.push(amount(micros(BigInt(chargedMicros)), currency));
    if (charged && mode === 'sandbox') facts.push('play money');
    if (outcome !== 'answered' && outcome !== 'refused') facts.push(outcome);
    const shown = facts.filter((fact) => fact !== undefined).map(String);
    return requestOf(line, String(method), String(path), shown.length === 0 ? [] : [shown.join(', ')]);
  }

  function textOf(line: Line): string {
    const { level, msg, time: _time, fault, ...facts } = line;
    if (msg === 'call') return callOf(line);
    if (msg === 'request') return requestOf(line, String(line['method']), String(line['path']), []);
    const colour = level === 'error' ? 'red' : level === 'warn' ? 'yellow' : 'dim';
    const told = Object.entries(facts).map(([name, value]) => paint('dim', `${name}=${shownAs(value)}`));
    return [paint(colour, String(level)), String(msg), ...told].join(' ') + faultOf(fault, level === 'error');
  }

  return (json) => {
    const line = JSON.parse(json) as Line;
    return `${paint('dim', clockOf(line['time']))} ${textOf(line)}\n`;
  };
}

/** The time of day, where the service runs. */
function clockOf(time: unknown): string {
  return dateOf(epochMsOf(String(time)))
    .toTimeString()
    .slice(0, 'hh:mm:ss'.length);
}

/** Escapes anything but plain text, so that nothing in a line moves the cursor or begins another line. */
function shownAs(value: unknown): string {
  return typeof value === 'string' && PLAIN.test(value) ? value : JSON.stringify(value);
}

/** A fault in the lines below, as `describeFault` has it. Where it was thrown matters only if the fault is ours. */
function faultOf(fault: unknown, isOurs: boolean): string {
  if (typeof fault !== 'object' || fault === null) return '';
  const { name, message, stack, cause } = fault as Line;
  const text = isOurs && typeof stack === 'string' ? stack : `${String(name)}: ${String(message)}`;
  return `\n  ${text.replaceAll(CONTROL, ' ').replaceAll('\n', '\n  ')}${faultOf(cause, isOurs)}`;
}
