import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { markPort, markStatements } from '#kernel/faults/failpoint.ts';

test('OP-03 no port is wrapped unless failpoints are armed', () => {
  const port = { find: () => 1 };
  assert.equal(markPort('keys', port), port);
  assert.equal(markStatements(port), port);
});

/** Runs a few calls of ports in a process that is armed. Gives what it said before it died, and of what. */
async function saidBy(armed: string): Promise<readonly [said: string, signal: unknown]> {
  const code = `
    import { armFailpoint, markPort, markStatements } from '${import.meta.resolve('#kernel/faults/failpoint.ts')}';
    import { writeSync } from 'node:fs';
    const say = (text) => void writeSync(1, text + ' ');
    const [name, hit] = ${JSON.stringify(armed.split(':'))};
    armFailpoint({ name, hit: Number(hit), act: 'kill' });
    class Chunks { #count = 1; async first() { say('first' + this.#count); } async rest() { throw new Error('cut'); } }
    const lane = markPort('lane', {
      mode: 'live',
      place: async () => say('place'),
      providerOf: () => ({ stream: async () => new Chunks(), complete: async () => say('complete') }),
    });
    const keys = markPort('keys', { find: () => say('find') });
    const pool = markStatements({ query: async ({ name }) => say(name) });
    keys.find();
    await lane.place();
    const chunks = await lane.providerOf().stream();
    await chunks.first();
    await chunks.rest().catch(() => say('caught'));
    await pool.query({ name: 'unlisted' });
    await pool.query({ name: 'ledger_settle' });
    keys.find();
    say('end-' + lane.mode);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let said = '';
  child.stdout.on('data', (part: Buffer) => (said += part.toString()));
  const [, signal] = (await once(child, 'close')) as [unknown, unknown];
  return [said.trim(), signal];
}

for (const { armed, said } of [
  { armed: 'keys.find-called:1', said: '' },
  { armed: 'keys.find-answered:1', said: 'find' },
  { armed: 'lane.place-answered:1', said: 'find place' },
  { armed: 'provider.stream-answered:1', said: 'find place' },
  { armed: 'chunks.first-called:1', said: 'find place' },
  { armed: 'chunks.rest-answered:1', said: 'find place first1' },
  { armed: 'statement.ledger-settle-called:1', said: 'find place first1 caught unlisted' },
  { armed: 'keys.find-called:2', said: 'find place first1 caught unlisted ledger_settle' },
  { armed: 'spool.keep-called:1', said: 'find place first1 caught unlisted ledger_settle find end-live' },
]) {
  test(`WA-10 a process that is armed with ${armed} dies there`, async () => {
    assert.deepEqual(await saidBy(armed), [said, said.includes('end') ? null : 'SIGKILL']);
  });
}
