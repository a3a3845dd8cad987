import { posix } from 'node:path';
import type { Finding } from './finding.ts';
import { type Project, SERVICE, type SourceFile } from './project.ts';

/** Names of files that tell what is inside, and a README for each folder of the service. */
export function checkNaming(project: Project): readonly Finding[] {
  return [...[...project.files.values()].flatMap((file) => badFileName(project, file)), ...missingReadmes(project)];
}

function badFileName({ rules }: Project, { path }: SourceFile): readonly Finding[] {
  const name = posix.basename(path);
  if (!rules.bannedFileNames.includes(name)) return [];
  const message = `\`${name}\` does not say what is inside. Name the file after the noun or verb that it exports.`;
  return [{ rule: 'file-names', file: path, line: 1, name, message }];
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
