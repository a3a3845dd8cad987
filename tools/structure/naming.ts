import { posix } from 'node:path';
import type { Finding } from './finding.ts';
import { type Project, SERVICE, type SourceFile } from './project.ts';

const KEBAB_CASE = /^[a-z\d]+(?:-[a-z\d]+)*(?:\.test)?\.ts$/;

/** Names of files that tell what is inside, and a README for each folder of the service. */
export function checkNaming(project: Project): readonly Finding[] {
  return [...[...project.files.values()].flatMap((file) => badFileName(project, file)), ...missingReadmes(project)];
}

function badFileName({ rules }: Project, { path, isService }: SourceFile): readonly Finding[] {
  const name = posix.basename(path);
  const at = { file: path, line: 1, name };
  const findings: Finding[] = [];
  if (!KEBAB_CASE.test(name)) {
    const message = 'The name of a file is in kebab-case, as in `rate-limit.ts`. Rename it.';
    findings.push({ rule: 'file-names', ...at, message });
  }
  if (rules.bannedFileNames.includes(name)) {
    const message = `\`${name}\` says nothing about what is inside. Name it after the noun or verb that it exports.`;
    findings.push({ rule: 'file-names', ...at, message });
  }
  if (isService && name === 'index.ts') {
    const message = 'A barrel hides direction and makes cycles. Import by file, and delete this one.';
    findings.push({ rule: 'barrels', ...at, message });
  }
  return findings;
}

function missingReadmes({ files, tree }: Project): readonly Finding[] {
  const service = [...files.values()].filter(({ isService, area }) => isService && area !== '');
  const folders = new Set(service.map(({ area }) => `${SERVICE}${area}`));
  return [...folders]
    .filter((folder) => !tree.has(`${folder}/README.md`))
    .map((folder) => ({
      rule: 'folder-readmes',
      file: folder,
      line: 1,
      message:
        'This folder has no README.md. Write one page: model, what it owns, what always holds, what it leaves to others.',
    }));
}
