// The files of `deploy`, read as the programs read them for which they are made.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { ROOT } from '../../tools/toolchain.ts';

export function deployText(file: string): string {
  return readFileSync(path.join(ROOT, 'deploy', file), 'utf8');
}

/** The one document of a YAML file. */
export function deployYaml(file: string): unknown {
  return parse(deployText(file));
}

/** All documents of a YAML file. */
export function deployYamls(file: string): readonly unknown[] {
  return parseAllDocuments(deployText(file)).map((document): unknown => document.toJS());
}

export type Environment = Readonly<Record<string, string>>;

/** A file of settings, as container engines and Kubernetes read it: everything after `=` is the value, quotes included. */
export function deployEnvironment(file: string): Environment {
  const lines = deployText(file).split('\n');
  const settings = lines.filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    settings.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
}

/** What the image sets and says of itself. */
export function readImage() {
  const text = deployText('container/Dockerfile').replaceAll('\\\n', ' ');
  const last = text.slice(text.lastIndexOf('\nFROM '));
  const word = (instruction: string) => new RegExp(`^${instruction} (.+)$`, 'm').exec(last)?.[1]?.trim() ?? '';
  const pairs = [...word('ENV').matchAll(/(\w+)=(\S+)/g)];
  return {
    environment: Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, value])),
    user: word('USER'),
    volume: word('VOLUME'),
    port: Number(word('EXPOSE')),
    text: last,
  };
}
