import { readFileSync } from 'node:fs';
import { isOwnSetting } from '@purser/contract/catalogue-providers.ts';
import { explainIssue, issueWords } from '@purser/contract/issues.ts';
import { type ProviderKeyDefinitions, providerKeysSchema } from '@purser/contract/provider-keys.ts';
import type { SettingsReader } from '#app/environment/settings-reader.ts';
import { parseJson } from '#kernel/text/json.ts';
import { proxyFault } from '#providers/transport/outbound.ts';

/** Reads the file that says where each provider key comes from and which hosts it may be sent to. Complaints quote no value of it. */
export function readProviderKeys(settings: SettingsReader): ProviderKeyDefinitions {
  const path = settings.text('PURSER_PROVIDER_KEYS');
  if (path === undefined) return {};
  const text = textOf(path);
  if (text === undefined) {
    settings.complain('PURSER_PROVIDER_KEYS names a file that cannot be read.');
    return {};
  }
  const value = parseJson(text);
  if (value === undefined) {
    settings.complain('PURSER_PROVIDER_KEYS: the file is not valid JSON.');
    return {};
  }
  const parsed = providerKeysSchema.safeParse(value, { error: issueWords });
  if (parsed.success) return parsed.data;
  for (const { steps, words } of parsed.error.issues.map(explainIssue)) {
    settings.complain(`PURSER_PROVIDER_KEYS: \`${steps.join('.') || 'the file'}\` ${words}`);
  }
  return {};
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/**
 * The environment for requests and programs that go out. The service's own settings are left out: a program that fetches a key has
 * no use for our secrets. A proxy that cannot be used is a fault, because without it calls would take another way.
 */
export function readOutbound(settings: SettingsReader, variables: Readonly<Record<string, string | undefined>>) {
  const fault = proxyFault(variables);
  if (fault !== undefined) settings.complain(fault);
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !isOwnSetting(name)));
}
