/** One exact text of a file and what takes its place. */
export interface Edit {
  readonly file: string;
  /** Occurs once in the file, or the mutant has rotted. */
  readonly find: string;
  readonly replacement: string;
}

/** A test by its file and its whole name. */
export interface NamedTest {
  readonly file: string;
  readonly name: string;
}

/** A fault that somebody could make, and the test that must notice it. */
export interface Mutant {
  readonly id: string;
  /** The clause that it breaks. */
  readonly clause: string;
  /**
   * There is more than one edit where a second layer would stop the fault, so that both must be gone for it to show.
   */
  readonly edits: readonly Edit[];
  readonly killer: NamedTest;
}

/** Files of a repository by their paths. */
export type Files = ReadonlyMap<string, string>;

/** What keeps a mutant from being planted; undefined when nothing does. */
export function rotOf(files: Files, { edits }: Mutant): string | undefined {
  if (edits.length === 0) return 'it changes nothing';
  for (const { file, find, replacement } of edits) {
    const found = (files.get(file) ?? '').split(find).length - 1;
    if (find === '' || found !== 1) return `this text occurs ${found} times in ${file}, not once: ${find}`;
    if (find === replacement) return `it puts back what it takes out of ${file}`;
  }
  return undefined;
}

/** The files that a mutant changes, as it leaves them. */
export function plant(files: Files, { edits }: Mutant): Files {
  const changed = new Map<string, string>();
  for (const { file, find, replacement } of edits) {
    const text = changed.get(file) ?? files.get(file) ?? '';
    changed.set(
      file,
      text.replace(find, () => replacement),
    );
  }
  return changed;
}
