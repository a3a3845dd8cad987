import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { SettingsReader } from '#app/environment/settings-reader.ts';

const SECRET_BYTES_MIN = 32;
/** 32 hexadecimal digits at random have 14 different ones on average, and fewer than eight about once in a million. */
const DIFFERENT_CHARACTERS_MIN = 8;
/** How the value in the operator's guide begins. A test holds the two together. */
const PLACEHOLDER = /^replace-this/i;
const HOW = 'Make one with `openssl rand -base64 48`.';

/**
 * Reads `PURSER_SECRET`, and `PURSER_SECRET_ALSO` while the secret is being changed. The first is undefined when a development
 * service is to make its own. Complaints never quote a secret.
 */
export function readSecrets(
  settings: SettingsReader,
  environment: string,
): { readonly secret: Buffer | undefined; readonly secretAlso: Buffer | undefined } {
  const secret = readSecret(settings, 'PURSER_SECRET', environment);
  if (secret === undefined && environment === 'production') {
    settings.complain(`PURSER_SECRET is required in production. ${HOW}`);
  }
  const secretAlso = readSecret(settings, 'PURSER_SECRET_ALSO', environment);
  if (secretAlso !== undefined && secret?.equals(secretAlso) === true) {
    settings.complain(
      'PURSER_SECRET_ALSO must be another secret than PURSER_SECRET: the former one or the coming one.',
    );
  }
  return { secret, secretAlso };
}

/**
 * Reads a secret. Production also refuses the placeholder of the operator's guide and texts that a person could guess:
 * a short one repeated, or a few characters only.
 */
function readSecret(settings: SettingsReader, name: string, environment: string): Buffer | undefined {
  const isProduction = environment === 'production';
  const value = settings.text(name);
  if (value === undefined) return undefined;
  const secret = Buffer.from(value, 'utf8');
  if (isProduction && PLACEHOLDER.test(value)) {
    settings.complain(`${name} is still the placeholder of the operator's guide, which anybody can read. ${HOW}`);
  } else if (secret.length < SECRET_BYTES_MIN) {
    settings.complain(`${name} must have ${SECRET_BYTES_MIN} bytes or more. ${HOW}`);
  } else if (isProduction && isGuessable(value)) {
    settings.complain(`${name} must be random: it has few different characters or repeats itself. ${HOW}`);
  }
  return secret;
}

function isGuessable(value: string): boolean {
  if (new Set(value).size < DIFFERENT_CHARACTERS_MIN) return true;
  // A text occurs in its own double before its end only if it is a shorter text, repeated.
  return (value + value).indexOf(value, 1) < value.length;
}

/**
 * The secret of a development service, made at its first start and kept in the data directory. Two processes may start at
 * once, so the file is written aside and linked into place: the first link wins, and both read the same secret. Undefined if
 * the file is cut short.
 */
export function keptSecret(dataDirectory: string): Buffer | undefined {
  const file = secretFile(dataDirectory);
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, randomBytes(SECRET_BYTES_MIN).toString('base64url'), { mode: 0o600 });
  try {
    linkSync(draft, file); // Atomic, and fails if the file exists.
  } catch (fault) {
    if (!(fault instanceof Error && 'code' in fault && fault.code === 'EEXIST')) throw fault;
  } finally {
    rmSync(draft, { force: true });
  }
  const secret = readFileSync(file);
  return secret.length >= SECRET_BYTES_MIN ? secret : undefined;
}

export function secretFile(dataDirectory: string): string {
  return path.join(dataDirectory, 'secret');
}
