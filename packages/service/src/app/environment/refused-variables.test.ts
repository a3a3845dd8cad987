import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ConfigError, readConfig } from '#app/settings/config.ts';
import { PLACEHOLDERS } from '#app/environment/refused-variables.ts';

const ROOT = new URL('../../../../../', import.meta.url);
const PRODUCTION = {
  PURSER_ENV: 'production',
  PURSER_SECRET: 'q2Vd0sXk9mB1yTfL7hRzWcN4aUjE8pGi',
  PURSER_PUBLIC_URL: 'https://purser.test',
  PURSER_CATALOGUE: 'catalogue.json',
};
const textOf = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');

function faultsOf(environment: Readonly<Record<string, string>>): readonly string[] {
  try {
    readConfig({ ...PRODUCTION, ...environment });
    return [];
  } catch (fault) {
    if (!(fault instanceof ConfigError)) throw fault;
    return fault.message.split('\n');
  }
}

test('OP-03 every setting of the guide is known', () => {
  const named = textOf('docs/guides/operator/settings.md').match(/\bPURSER_[A-Z_]+\b/g) ?? [];
  assert.ok(named.length > 40);
  const empty = Object.fromEntries(named.map((name) => [name, '']));
  assert.deepEqual(faultsOf({ ...empty, ...PRODUCTION }), []);
});

test('OP-03 a misspelt setting is refused with the nearest one', () => {
  const { PURSER_PROXY_HOP, PURSER_PUBLICURL, PURSER_COLOUR } = {
    PURSER_PROXY_HOP: '1',
    PURSER_PUBLICURL: 'https://purser.test',
    PURSER_COLOUR: 'red',
  };
  const ofGuides = { PATH: '/bin', PURSER_OPERATOR_TOKEN: 't', PURSER_APP_ID: 'a', PURSER_OWNER_PASSWORD: 'p' };
  assert.deepEqual(faultsOf({ PURSER_PROXY_HOP, PURSER_PUBLICURL, PURSER_COLOUR, ...ofGuides, PORT: 'x' }), [
    'PORT must be a whole number from 0 to 65535.',
    'PURSER_PROXY_HOP is not a setting. Did you mean PURSER_PROXY_HOPS?',
    'PURSER_PUBLICURL is not a setting. Did you mean PURSER_PUBLIC_URL?',
    'PURSER_COLOUR is not a setting. Remove it.',
  ]);
});

test('OP-03 production refuses each placeholder of the samples', () => {
  const samples = [
    ...textOf('docs/guides/operator/settings.md').matchAll(/```sh settings\n([\s\S]*?)```/g),
    ...textOf('deploy/kubernetes/settings/secret.example.env').matchAll(/([\s\S]*)/g),
    ...textOf('deploy/kubernetes/settings/settings.env').matchAll(/([\s\S]*)/g),
  ].map(([, text = '']) => text);
  const values = samples.flatMap((sample) =>
    Array.from(sample.matchAll(/^\w+='?(.+?)'?$/gm), ([, value = '']) => value),
  );
  for (const placeholder of PLACEHOLDERS) assert.ok(values.includes(placeholder), placeholder);
  const unlisted = values.filter(
    (value) => /example|\.\.\.|password|long-random/i.test(value) && !PLACEHOLDERS.has(value),
  );
  assert.deepEqual(unlisted, []);
  assert.deepEqual(faultsOf({ PURSER_OPERATOR_NAME: 'Example Pay' }), [
    "PURSER_OPERATOR_NAME still has the value of the guide's sample. Set your own.",
  ]);
});

test('OP-03 a token of metrics that can be guessed is refused', () => {
  assert.match(faultsOf({ PURSER_METRICS_TOKEN: 'x' }).join(), /PURSER_METRICS_TOKEN must have 16 characters or more/);
  assert.deepEqual(faultsOf({ PURSER_METRICS_TOKEN: '0123456789abcdef' }), []);
});
