import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { globSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../../tools/toolchain.ts';
import { readConfig } from '../../packages/service/src/app/settings/config.ts';
import { SERVICE_ROUTES } from '../../packages/service/src/http/openapi/fixed-routes.ts';
import { deployText, deployYaml, readImage } from '../support/deploy-files.ts';
import { settingNames } from '../support/guide-blocks.ts';

interface ComposeService {
  readonly build?: { readonly dockerfile: string };
  readonly image: string;
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly ports?: readonly string[];
  readonly volumes: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly stop_grace_period: string;
}

interface Compose {
  readonly name: string;
  readonly services: { readonly purser: ComposeService; readonly database: ComposeService };
}

const image = readImage();
const demo = deployYaml('container/compose.yaml') as Compose;
const production = deployYaml('container/compose.production.yaml') as Compose;
const SECRET = randomBytes(48).toString('base64');
/** What a stop takes beyond the two settings: requests without money, charges, the database. */
const STOP_MARGIN_MS = 20_000;

test('OP-17 the image has valid settings, user and health route', () => {
  for (const name of Object.keys(image.environment)) {
    assert.ok(name === 'PATH' || settingNames().has(name), name);
  }
  const [uid, gid] = image.user.split(':').map(Number);
  assert.ok(uid !== undefined && uid >= 10_000 && gid === uid, image.user);
  assert.equal(image.environment['PURSER_DATA_DIR'], image.volume);
  assert.equal(Number(image.environment['PORT']), image.port);
  assert.equal(image.environment['PURSER_ENV'], 'production');
  const [, asked = ''] = /^HEALTHCHECK .*(\/\w+)'/m.exec(image.text) ?? [];
  assert.ok(
    SERVICE_ROUTES.some(({ path }) => path === asked),
    asked,
  );
  assert.notEqual(asked, '/readyz', 'an outage of the database would restart the service');
  assert.match(image.text, /^ENTRYPOINT \["purser"\]$/m, 'a shell in between would keep the signal for itself');
});

test('OP-17 the recipe installs packages before copying sources', () => {
  const recipe = deployText('container/Dockerfile');
  const before = recipe.slice(0, recipe.indexOf('RUN npm ci'));
  for (const file of globSync('packages/*/package.json', { cwd: ROOT })) {
    assert.ok(before.includes(`COPY ${file} ${path.dirname(file)}/\n`), file);
  }
});

test('OP-17 the build gets only what the image needs', () => {
  const lines = deployText('../.dockerignore').split('\n');
  const rules = lines.filter((line) => line !== '' && !line.startsWith('#'));
  assert.equal(rules[0], '*');
  assert.ok(rules.includes('**/node_modules'));
  assert.ok(!rules.some((rule) => /^!.*(?:\.purser|\.git\b|\.env)/.test(rule)), rules.join(' '));
});

test('OP-17 compose runs the image read-only on loopback', () => {
  for (const { name, services } of [demo, production]) {
    const { purser } = services;
    assert.equal(purser.build?.dockerfile, 'deploy/container/Dockerfile', name);
    assert.equal(purser.read_only, true, name);
    assert.deepEqual(purser.cap_drop, ['ALL'], name);
    assert.deepEqual(purser.ports, [`127.0.0.1:${image.port}:${image.port}`], name);
    assert.ok(purser.volumes.includes(`data:${image.volume}`), name);
    const { stopDelayMs, stopCallsMs } = readConfig({
      ...image.environment,
      DATABASE_URL: 'postgres://purser@database/purser',
      PURSER_PUBLIC_URL: 'https://purser.test',
      PURSER_SECRET: SECRET,
    });
    const graceMs = Number(/^(\d+)s$/.exec(purser.stop_grace_period)?.[1]) * 1_000;
    assert.ok(graceMs >= stopDelayMs + stopCallsMs + STOP_MARGIN_MS, `${name}: ${graceMs} ms`);
    // Images before 18 put their data into a volume of their own below this one, which `down` forgets.
    const [, mounted = ''] = /^database:(\/\S+)$/m.exec(services.database.volumes.join('\n')) ?? [];
    const data = services.database.environment?.['PGDATA'] ?? '';
    assert.equal(data, `${mounted}/18/docker`, `${name}: a volume that was made without it keeps its books`);
  }
});

test('OP-17 the production sample’s service is no superuser of its database', () => {
  const { environment = {}, volumes } = production.services.database;
  assert.deepEqual(
    Object.keys(environment),
    ['POSTGRES_PASSWORD_FILE', 'PGDATA'],
    'the image makes its user a superuser',
  );
  assert.ok(volumes.includes('./database-user.sh:/docker-entrypoint-initdb.d/purser.sh:ro'), volumes.join());
  const [, statements = ''] = /<<'SQL'\n(.+)\nSQL\n/s.exec(deployText('container/database-user.sh')) ?? [];
  assert.deepEqual(statements.split('\n'), [
    "create role purser login createrole password :'password';",
    'create database purser owner purser;',
    'alter role postgres password null;',
  ]);
});

test('OP-17 the compose demo needs no setting', () => {
  const { environment = {} } = demo.services.purser;
  const set = Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, value ?? '']), // Without a value: the machine's own.
  );
  for (const name of Object.keys(set)) assert.ok(settingNames().has(name) || name.endsWith('_API_KEY'), name);
  const config = readConfig({ ...image.environment, ...set, PURSER_SECRET: SECRET });
  assert.equal(config.environment, 'development');
  assert.equal(config.catalogueFile, undefined);
  assert.ok(config.isInContainer);
  assert.equal(new URL(config.publicUrl).port, String(image.port));
  const { environment: own = {} } = demo.services.database;
  const { username, password, pathname } = new URL(config.databaseUrl ?? '');
  assert.deepEqual(
    [username, password, pathname],
    [own['POSTGRES_USER'], own['POSTGRES_PASSWORD'], `/${own['POSTGRES_DB']}`],
  );
});
