/** A file that cannot be read as what it should be. The message is shown to the person who sent it: it names the line. */
export class FileFault extends Error {
  /** Tells whether the file is above a limit of size, rather than wrong. */
  readonly isTooLarge: boolean;

  constructor(message: string, { isTooLarge = false } = {}) {
    super(message);
    this.isTooLarge = isTooLarge;
  }
}
