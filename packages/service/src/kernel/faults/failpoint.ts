import { writeSync } from 'node:fs';

/**
 * The functions of each port that a call waits for, or hands its answer to. `markPort` puts a failpoint before and after
 * each call of one. `tests/structure/failpoints.test.ts` checks that every wait of a call is one of these or has failpoints of
 * its own.
 */
export const MARKED = {
  keys: ['find'],
  rate: ['take'],
  lane: ['place', 'settle'],
  provider: ['complete', 'stream'],
  chunks: ['first', 'rest'],
  writer: ['write', 'end', 'fail'],
  spool: ['keep'],
  answers: ['keep', 'find'],
} as const;

/** Ports that a call is handed by another port. */
const HANDED_BY: Readonly<Record<string, PortName>> = {
  'lane.providerOf': 'provider',
  'provider.stream': 'chunks',
  'writers.open': 'writer',
};

/** The statements that end or place holds, by the names under which the database keeps them prepared. */
export const MARKED_STATEMENTS = [
  'ledger_place_one',
  'ledger_settle_one',
  'ledger_turn',
  'ledger_reserve',
  'ledger_settle',
] as const;

/** The failpoints of waits that no port covers: each is a call of `failpoint` in the code. */
const OWN = [
  'chat.arrived',
  'chat.body-read',
  'chat.plain-sent',
  'chat.write-full',
  'chat.write-drained',
  'stream.awaited',
  'stream.status-known',
  'hold.release-queued',
  'hold.release-answered',
  'instance.fenced',
  'instance.replaced',
] as const;

type PortName = keyof typeof MARKED;
type OwnFailpoint = (typeof OWN)[number];

/**
 * The moments at which a process can be made to die or to stand still: before and after everything that a call waits for.
 * `npm run proofs -- histories` goes through all of them.
 */
export const FAILPOINTS: readonly string[] = [
  ...OWN,
  ...Object.entries(MARKED).flatMap(([port, functions]) => functions.flatMap((name) => pointsOf(`${port}.${name}`))),
  ...MARKED_STATEMENTS.flatMap((name) => pointsOf(statementPoint(name))),
];

/** What to do the nth time that a moment is reached. */
export interface ArmedFailpoint {
  /** One of `FAILPOINTS`. */
  readonly name: string;
  readonly hit: number;
  /**
   * With `kill`, the process dies at once, as when out of memory. With `stop`, it stands still until it is sent
   * SIGCONT.
   */
  readonly act: 'kill' | 'stop';
}

let armed: { readonly point: ArmedFailpoint; hits: number } | undefined;

const STDERR = 2;

/** Arms one failpoint in this process. Call it before the ports are made. Never in production: see app/settings/config.ts. */
export function armFailpoint(point: ArmedFailpoint): void {
  armed = { point, hits: 0 };
}

/** Marks a moment that no port covers. Unless a failpoint is armed, it costs one comparison. */
export function failpoint(name: OwnFailpoint): void {
  if (armed !== undefined) reach(name);
}

/**
 * Puts a failpoint before and after each call of the port's marked functions, and of the ports that it hands on. Returns
 * the port itself unless a failpoint is armed, so that the code that ships runs without any of this.
 */
export function markPort<Port extends object>(name: PortName | 'writers', port: Port): Port {
  if (armed === undefined) return port;
  return wrapped(port, (member) => `${name}.${member}`);
}

/** The same for a pool: the failpoints are those of its marked statements. */
export function markStatements<Pool extends object>(pool: Pool): Pool {
  if (armed === undefined) return pool;
  return wrapped(pool, (member, [statement]) => {
    const name = member === 'query' ? (statement as { readonly name?: string } | undefined)?.name : undefined;
    return name === undefined ? '' : statementPoint(name);
  });
}

type Arguments = readonly unknown[];

/** A proxy, because a port may be an object of a class, with private members that a copy would not have. */
function wrapped<Port extends object>(port: Port, nameOf: (member: string, given: Arguments) => string): Port {
  return new Proxy(port, {
    get: (target, member): unknown => {
      const value: unknown = Reflect.get(target, member, target);
      if (typeof value !== 'function' || typeof member !== 'string') return value;
      return (...given: Arguments): unknown => {
        const name = nameOf(member, given);
        const [called, answered] = pointsOf(name);
        const handOn = (result: unknown): unknown => {
          reach(answered);
          const port = HANDED_BY[name];
          return port === undefined || !isObject(result) ? result : markPort(port, result);
        };
        reach(called);
        const result: unknown = Reflect.apply(value, target, given);
        if (!(result instanceof Promise)) return handOn(result);
        return result.then(handOn, (fault: unknown) => {
          reach(answered); // A wait that ends in a fault is over as well.
          throw fault;
        });
      };
    },
  });
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function pointsOf(name: string): readonly [called: string, answered: string] {
  return [`${name}-called`, `${name}-answered`];
}

function statementPoint(name: string): string {
  return `statement.${name.replaceAll('_', '-')}`;
}

function reach(name: string): void {
  if (armed?.point.name !== name) return;
  armed.hits += 1;
  const { point, hits } = armed;
  if (hits !== point.hit) return;
  writeSync(STDERR, `failpoint ${name}: ${point.act}\n`); // Not by the log, which may write when it is too late.
  process.kill(process.pid, point.act === 'kill' ? 'SIGKILL' : 'SIGSTOP');
}
