/** Something that is not as the house wants it. */
export interface Finding {
  readonly rule: string;
  readonly file: string;
  readonly line: number;
  /** What is wrong and what to do instead, in full sentences. */
  readonly message: string;
}
