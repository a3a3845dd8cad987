import { FileFault } from '#reconciliation/files/file-fault.ts';

/** A record of a CSV file, and the line on which it begins, from 1. */
export interface CsvRecord {
  readonly line: number;
  readonly fields: readonly string[];
}

const RECORD_LENGTH_MAX = 65_536;
const FIELDS_MAX = 256;

/**
 * Reads CSV (RFC 4180) piece by piece. Line ends are LF or CRLF, fields may be quoted, empty lines are passed over. Throws
 * `FileFault` at a quote in the wrong place, and at records beyond the limits.
 */
export class CsvReader {
  private state: 'fresh' | 'plain' | 'quoted' | 'closed' = 'fresh';
  private field = '';
  private fields: string[] = [];
  private length = 0;
  private line = 1;
  private begunAt = 1;
  private isAfterReturn = false;

  /** The records that end within this piece. */
  read(piece: string): readonly CsvRecord[] {
    const records: CsvRecord[] = [];
    let from = 0;
    for (const { 0: sign, index } of piece.matchAll(/[",\r\n]/g)) {
      if (index > from) this.takeText(piece.slice(from, index));
      from = index + 1;
      const record = this.takeSign(sign);
      if (record !== undefined) records.push(record);
    }
    if (from < piece.length) this.takeText(piece.slice(from));
    return records;
  }

  /** The last record, if the file does not end with a line end. */
  end(): readonly CsvRecord[] {
    if (this.state === 'quoted')
      throw new FileFault(`The quote that is opened on line ${this.begunAt} is never closed.`);
    this.refuseReturn();
    const record = this.fields.length === 0 && this.field === '' ? undefined : this.endRecord();
    return record === undefined ? [] : [record];
  }

  /** Takes one of `"`, `,`, CR and LF. */
  private takeSign(sign: string): CsvRecord | undefined {
    if (sign !== '\n') this.refuseReturn();
    this.isAfterReturn = false;
    if (this.state === 'quoted') this.takeInQuotes(sign);
    else if (sign === '"') this.openQuote();
    else if (sign === ',') this.endField();
    else if (sign === '\r') this.isAfterReturn = true;
    else {
      const record = this.endRecord();
      this.line += 1;
      this.begunAt = this.line;
      return record;
    }
    return undefined;
  }

  private takeInQuotes(sign: string): void {
    if (sign === '"') this.state = 'closed';
    else this.add(sign);
    if (sign === '\n') this.line += 1;
  }

  private openQuote(): void {
    if (this.state === 'plain') throw new FileFault(`Line ${this.line} has a quote inside a field without quotes.`);
    if (this.state === 'closed') this.add('"'); // Two quotes in a quoted field are one.
    this.state = 'quoted';
  }

  private takeText(text: string): void {
    this.refuseReturn();
    if (this.state === 'closed') throw new FileFault(`Line ${this.line} goes on after the quote that ends a field.`);
    if (this.state === 'fresh') this.state = 'plain';
    this.add(text);
  }

  private add(text: string): void {
    this.length += text.length;
    if (this.length > RECORD_LENGTH_MAX) {
      throw new FileFault(`Line ${this.begunAt} has more than ${RECORD_LENGTH_MAX} characters. Is a quote missing?`);
    }
    this.field += text;
  }

  private endField(): void {
    this.fields.push(this.field);
    if (this.fields.length > FIELDS_MAX)
      throw new FileFault(`Line ${this.begunAt} has more than ${FIELDS_MAX} fields.`);
    this.field = '';
    this.state = 'fresh';
  }

  /** Returns undefined for an empty line. */
  private endRecord(): CsvRecord | undefined {
    this.endField();
    const record = { line: this.begunAt, fields: this.fields };
    this.fields = [];
    this.length = 0;
    return record.fields.length === 1 && record.fields[0] === '' ? undefined : record;
  }

  private refuseReturn(): void {
    if (this.isAfterReturn) throw new FileFault(`Line ${this.line} has a carriage return without a line feed.`);
  }
}
