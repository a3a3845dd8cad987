import type { Finding } from './finding.ts';
import { type Project, SERVICE } from './project.ts';

/** A README for each folder of the service. */
export function checkNaming({ files, tree }: Project): readonly Finding[] {
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
