import { spawnSync } from 'node:child_process';

/** The same files make the same archive for everybody who packs, and every user may read them. */
const FIXED = [
  '--sort=name',
  '--owner=0',
  '--group=0',
  '--numeric-owner',
  '--mtime=2000-01-01 00:00:00Z',
  '--mode=a+rX,u+w,go-w',
];

/** Packs the folder `name` of `parent`, under that name. Only GNU's tar, which Linux has, makes the same archive each time. */
export function packFolder(file: string, parent: string, name: string): void {
  const args = ['-czf', file, ...(process.platform === 'linux' ? FIXED : []), '-C', parent, name];
  const { status, stderr, error } = spawnSync('tar', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`\`tar\` failed:\n${stderr}`, { cause: error });
}
