import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { commandNames } from '../../packages/service/src/cli/run-command.ts';
import { ROOT } from '../../tools/toolchain.ts';
import { programAt } from '../support/nginx.ts';

const UNITS = path.join(ROOT, 'deploy/systemd');
const PROGRAM = '/usr/local/bin/purser';
/** The exposure that is allowed, of 10. Below 2 systemd calls a unit `OK`, and above it `MEDIUM` or worse. */
const EXPOSURE_MAX = 1.5;

const linesOf = (name: string) => readFileSync(path.join(UNITS, name), 'utf8').split('\n');
/** Systemd before 254 does not know the pauses that grow, and says so. */
const GROWING = /Unknown key(?: name)? 'Restart(?:Steps|MaxDelaySec)'/;

const analyze = programAt('systemd-analyze');
const WITH_SYSTEMD = { skip: analyze === undefined && 'systemd-analyze is missing: install systemd' };

function run(...words: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync(analyze ?? '', words, { encoding: 'utf8' });
  assert.equal(status, 0, `${stdout}${stderr}`);
  return stdout + stderr;
}

test('OP-17 the systemd units are valid and hardly exposed', WITH_SYSTEMD, (t) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-units-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(UNITS, folder, { recursive: true });
  for (const name of ['purser.service', 'purser@.service', 'purser-job@.service', 'purser-pgbackrest.service']) {
    const file = path.join(folder, name);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(PROGRAM, '/bin/true')); // It is not installed here.
    const said = run('verify', file.replace('@.', '@8787.'))
      .split('\n')
      .filter((line) => !GROWING.test(line));
    assert.deepEqual(said, [''], name);
    const [, exposure] = /exposure level for \S+: ([\d.]+)/.exec(run('security', '--offline=true', file)) ?? [];
    assert.ok(Number(exposure) <= EXPOSURE_MAX, `${name}: ${exposure}`);
  }
});

for (const [name, words] of [
  ['ledger-check', /^ledger check$/],
  ['audit-check', /^audit check$/],
  ['backup-create', /^backup create$/],
  ['close-month', /^ledger close-month 20\d\d-[01]\d$/],
] as const) {
  test(`OP-17 the timer's unit runs the command of its name: ${name}`, () => {
    const start = linesOf('purser-job@.service').find((line) => line.startsWith('ExecStart=')) ?? '';
    const [, script = ''] = /^ExecStart=\/bin\/sh -c '(.+)' sh %i$/.exec(start) ?? [];
    const written = script.replaceAll('$$', '$').replaceAll('%%', '%').replace(`exec ${PROGRAM}`, 'echo');
    const { stdout } = spawnSync('/bin/sh', ['-c', written, 'sh', name], { encoding: 'utf8' });
    assert.match(stdout.trim(), words);
    const command = stdout.trim().split(' ').slice(0, 2).join(' ');
    assert.ok(commandNames().includes(command), command);
  });
}

test('OP-17 the timers are valid', WITH_SYSTEMD, (t) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-timers-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(UNITS, folder, { recursive: true });
  const job = path.join(folder, 'purser-job@.service');
  writeFileSync(job, readFileSync(job, 'utf8').replaceAll(PROGRAM, '/bin/true'));
  for (const name of ['purser-job@ledger-check', 'purser-job@close-month', 'purser-pgbackrest']) {
    const said = run('verify', path.join(folder, `${name}.timer`)).split('\n');
    assert.deepEqual(
      said.filter((line) => !GROWING.test(line)),
      [''],
      name,
    );
  }
});

test('OP-17 purserctl runs a command as the unit does, and ends with its status', (t) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-ctl-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const standIn = '#!/bin/sh\nprintf "%s\\n" "$@"\nexit 7\n';
  writeFileSync(path.join(folder, 'systemd-run'), standIn, { mode: 0o755 });
  const env = { PATH: `${folder}:/usr/bin:/bin` };
  const words = ['catalogue', 'import', 'my file.json'];
  const { status, stdout } = spawnSync(path.join(UNITS, 'purserctl'), words, { env, cwd: folder, encoding: 'utf8' });
  const given = stdout.trimEnd().split('\n');
  assert.deepEqual([status, given.slice(-4)], [7, [PROGRAM, ...words]]);
  for (const line of linesOf('purser-job@.service')) {
    const [, key = '', value = ''] =
      /^(User|Group|Environment|EnvironmentFile|UMask|NoNewPrivileges)=(.*)$/.exec(line) ?? [];
    const option = { User: '--uid', Group: '--gid', Environment: '--setenv' }[key] ?? `--property=${key}`;
    for (const one of value.split(' ')) assert.ok(value === '' || given.includes(`${option}=${one}`), line);
  }
  for (const option of ['--wait', '--pipe', `--property=WorkingDirectory=-${folder}`])
    assert.ok(given.includes(option), option);
});

test('OP-17 systemd repeats any start that can still succeed', () => {
  const unit = linesOf('purser.service');
  for (const line of ['Restart=on-failure', 'StartLimitIntervalSec=0', 'RestartMaxDelaySec=60'])
    assert.ok(unit.includes(line), line);
  assert.match(
    unit.join('\n'),
    /^RestartPreventExitStatus=78 /m,
    'the status of a start with settings that cannot be used',
  );
});

for (const [host, listens] of [
  ['127.0.0.2', '127.0.0.2'],
  ['0.0.0.0', '127.0.0.1'],
  ['::1', '::1'],
]) {
  test(`OP-17 the unit asks the service at HOST ${host}`, { skip: os.platform() !== 'linux' }, async () => {
    let asked: string | undefined;
    const server = createServer((request, response) => {
      asked = request.url;
      response.end();
    });
    await once(server.listen(0, listens), 'listening');
    const { port } = server.address() as AddressInfo;
    const [, script = ''] = /^ExecStartPost=\/bin\/sh -c '(.*)'$/m.exec(linesOf('purser.service').join('\n')) ?? [];
    const env = { PATH: process.env['PATH'], HOST: host, PORT: String(port), MAINPID: String(process.pid) };
    const child = spawn('/bin/sh', ['-c', script.replaceAll('$$', '$')], { env, stdio: 'ignore' });
    const [status] = (await once(child, 'exit')) as unknown[];
    server.close();
    assert.deepEqual([status, asked], [0, '/readyz']);
  });
}

test('OP-17 the multi-gateway unit differs only in its port', () => {
  const one = new Set(linesOf('purser.service'));
  const others = linesOf('purser@.service').filter((line) => !one.has(line));
  assert.ok(
    others.every((line) => line.startsWith('#') || /%i|^Environment=/.test(line)),
    others.join('\n'),
  );
});
