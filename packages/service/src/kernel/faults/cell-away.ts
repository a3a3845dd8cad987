/** Another cell did not answer a question in time, or not in the shape of an answer. */
export class CellAway extends Error {
  constructor(cell: string, cause?: unknown) {
    super(`The cell ${cell} does not answer.`, { cause });
    this.name = 'CellAway';
  }
}
