import type { Finding } from './finding.ts';
import { findFunctions, type FunctionSpan } from './functions.ts';
import type { Project, SourceFile } from './project.ts';

/** Files and functions that are longer than one can read at a time. */
export function checkSizes({ files, rules }: Project): readonly Finding[] {
  const { fileLines, functionLines } = rules.sizes;
  const findings: Finding[] = [];
  for (const file of files.values()) {
    if (file.lineCount > fileLines) {
      const message = `This file has ${file.lineCount} lines, and ${fileLines} are the end. Split it where its subject changes.`;
      findings.push({ rule: 'sizes', file: file.path, line: fileLines + 1, message });
    }
    for (const { name, line, lines } of longFunctions(file, rules.groupingFunctions, functionLines)) {
      const message = `\`${name}\` has ${lines} lines, and ${functionLines} are the end. Give its parts names of their own.`;
      findings.push({ rule: 'sizes', file: file.path, line, message, name });
    }
  }
  return findings;
}

function longFunctions(file: SourceFile, grouping: readonly string[], linesMax: number): readonly FunctionSpan[] {
  return findFunctions(file).filter(({ lines, callee }) => lines > linesMax && !grouping.includes(callee ?? ''));
}
