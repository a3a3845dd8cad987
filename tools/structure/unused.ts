import type { Finding } from './finding.ts';
import { type Import, type Project, SERVICE } from './project.ts';

/** Files of the service that nothing reaches, and exports that nothing imports. */
export function checkUnused(project: Project): readonly Finding[] {
  return [...unreachedFiles(project), ...unusedExports(project)];
}

function unreachedFiles({ files, rules }: Project): readonly Finding[] {
  const entries = rules.entries.map((name) => `${SERVICE}${name}`);
  const missing = entries.filter((path) => !files.has(path));
  if (missing.length > 0) {
    // One finding, not one for each file that can't be reached from a file that isn't there.
    const message =
      'This file is missing, from which every file of the service is reached. Add it, or correct `entries`.';
    return missing.map((file) => ({ rule: 'unused-files', file, line: 1, message }));
  }
  const reached = new Set(entries);
  for (const path of reached) {
    for (const { target } of files.get(path)?.imports ?? []) {
      if (target !== undefined && files.has(target)) reached.add(target);
    }
  }
  return [...files.values()]
    .filter(({ path, isService, isTest }) => isService && !isTest && !reached.has(path))
    .map(({ path }) => {
      const message = `Nothing that ${rules.entries.join(', ')} reaches imports this file. Use it, or delete it.`;
      return { rule: 'unused-files', file: path, line: 1, message };
    });
}

function unusedExports({ files }: Project): readonly Finding[] {
  const takers = new Map<string, Import[]>();
  for (const file of files.values()) {
    for (const statement of file.imports) {
      const { target } = statement;
      if (target === undefined || target === file.path) continue;
      takers.set(target, [...(takers.get(target) ?? []), statement]);
    }
  }
  const isTaken = (path: string, name: string): boolean =>
    (takers.get(path) ?? []).some(({ names }) => names === 'all' || names.includes(name));
  return [...files.values()]
    .filter(({ isService, isTest }) => isService && !isTest)
    .flatMap(({ path, exports }) => exports.filter(({ name }) => !isTaken(path, name)).map((one) => ({ path, ...one })))
    .map(({ path, name, line }) => {
      const message = `No other file imports \`${name}\`. Take \`export\` away, or delete it when this file does not use it.`;
      return { rule: 'unused-exports', file: path, line, message, name };
    });
}
