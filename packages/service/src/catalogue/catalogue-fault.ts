interface CatalogueFault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** A catalogue file that cannot be used. The message lists every fault with its place, so that one edit can fix them all. */
export class CatalogueFileError extends Error {
  /** The faults of the catalogue. There are none when the text is not even JSON. */
  readonly faults: readonly CatalogueFault[];

  constructor(message: string, faults: readonly CatalogueFault[] = []) {
    super(message);
    this.faults = faults;
  }
}
