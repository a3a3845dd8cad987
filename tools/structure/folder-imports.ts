import { breaksOfDirection } from './direction.ts';
import type { Finding } from './finding.ts';
import { areaOf, type Import, isIn, isProduct, nameOf, type Project, type SourceFile } from './project.ts';

/** Which folder may import which, and which file may not. `tools/lint/modules.ts` says who may import a package. */
export function checkFolderImports(project: Project): readonly Finding[] {
  const findings: Finding[] = [...checkTable(project)];
  for (const file of project.files.values()) {
    findings.push(...checkTargets(project, file));
    if (!isProduct(file)) continue;
    if (project.rules.areas[file.area] === undefined) {
      findings.push(unknownArea(file));
      continue;
    }
    for (const statement of file.imports) {
      const verdict = statement.target === undefined ? undefined : verdictOn(project, file, statement);
      if (verdict !== undefined) findings.push(finding(file, statement, verdict));
    }
  }
  return findings;
}

function checkTable({ rules: { areas } }: Project): readonly Finding[] {
  return breaksOfDirection(areas).map((what) => ({
    rule: 'folder-imports',
    file: 'tools/structure/areas.ts',
    line: 1,
    message: `In the table of areas, ${what}`,
  }));
}

function checkTargets({ tree }: Project, file: SourceFile): readonly Finding[] {
  return file.imports
    .filter(({ target }) => target !== undefined && !tree.has(target))
    .map((statement) =>
      finding(file, statement, `imports ${statement.target}, which does not exist. Correct the path.`),
    );
}

function unknownArea({ path, area }: SourceFile): Finding {
  const message =
    area === ''
      ? 'A file of the service lies in a folder. Move it into the one whose word it is about.'
      : `The folder \`${area}\` has no row in the table of areas. Add what it may import to tools/structure/areas.ts.`;
  return { rule: 'folder-imports', file: path, line: 1, message, name: area };
}

function verdictOn({ rules }: Project, file: SourceFile, { target = '' }: Import): string | undefined {
  const to = { name: nameOf(target), area: areaOf(target) };
  const own = rules.fileImports.find((rule) => rule.file === file.name);
  const isForbidden = own?.never?.some((place) => isIn(to, place)) === true;
  const isLeftOut = own?.only !== undefined && !own.only.some((place) => isIn(to, place));
  if (own !== undefined && (isForbidden || isLeftOut)) {
    return `may not import \`${to.name}\`: ${own.reason}. Have what it needs handed in.`;
  }
  const allowed = rules.areas[file.area] ?? [];
  if (to.area === file.area || allowed.includes(to.area)) return undefined;
  if (rules.allowedImports.some((single) => single.from === file.name && single.to === to.name)) return undefined;
  const choice = allowed.length === 0 ? 'nothing outside itself' : allowed.map((area) => `\`${area}\``).join(', ');
  return (
    `may not import \`${to.name}\`: \`${file.area}\` may import ${choice}. ` +
    'Move the code to the folder that owns the word, or take what it needs as a parameter from app/compose.ts.'
  );
}

function finding(file: SourceFile, { line, specifier }: Import, verdict: string): Finding {
  return { rule: 'folder-imports', file: file.path, line, message: `This file ${verdict}`, name: specifier };
}
