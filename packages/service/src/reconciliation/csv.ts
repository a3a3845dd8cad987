import { FileFault } from '#reconciliation/file-fault.ts';

/** A record of a CSV file, and the line on which it begins, from 1. */
export interface CsvRecord {
  readonly line: number;
  readonly fields: readonly string[];
}

const RECORD_LENGTH_MAX = 65_536;
const FIELDS_MAX = 256;

type State = 'fresh' | 'plain' | 'quoted' | 'closed';

/** Reads CSV (RFC 4180) piece by piece. Line ends are LF or CRLF, fields may be quoted, empty lines are passed over. */
interface CsvReader {
  /** The records that end within this piece. */
  readonly read: (piece: string) => readonly CsvRecord[];
  /** The last record, if the file does not end with a line end. */
  readonly end: () => readonly CsvRecord[];
}

/** Throws `FileFault` at a quote in the wrong place, and at records beyond the limits. */
export function createCsvReader(): CsvReader {
  let state: State = 'fresh';
  let field = '';
  let fields: string[] = [];
  let length = 0;
  let line = 1;
  let begunAt = 1;
  let isAfterReturn = false;

  const endField = () => {
    fields.push(field);
    if (fields.length > FIELDS_MAX) throw new FileFault(`Line ${begunAt} has more than ${FIELDS_MAX} fields.`);
    field = '';
    state = 'fresh';
  };
  const endRecord = (): readonly CsvRecord[] => {
    endField();
    const record = { line: begunAt, fields };
    [fields, length] = [[], 0];
    return record.fields.length === 1 && record.fields[0] === '' ? [] : [record];
  };
  const add = (text: string) => {
    length += text.length;
    if (length > RECORD_LENGTH_MAX) {
      throw new FileFault(`Line ${begunAt} has more than ${RECORD_LENGTH_MAX} characters. Is a quote missing?`);
    }
    field += text;
  };

  /** Takes one of `"`, `,`, CR and LF. */
  function take(sign: string): readonly CsvRecord[] {
    if (isAfterReturn && sign !== '\n') throw new FileFault(`Line ${line} has a carriage return without a line feed.`);
    isAfterReturn = false;
    if (state === 'quoted') {
      if (sign === '"') state = 'closed';
      else add(sign);
      if (sign === '\n') line += 1;
      return [];
    }
    if (sign === '"') {
      if (state === 'plain') throw new FileFault(`Line ${line} has a quote inside a field without quotes.`);
      if (state === 'closed') add('"'); // Two quotes in a quoted field are one.
      state = 'quoted';
      return [];
    }
    if (sign === ',') {
      endField();
      return [];
    }
    if (sign === '\r') {
      isAfterReturn = true;
      return [];
    }
    const records = endRecord();
    line += 1;
    begunAt = line;
    return records;
  }

  function takeText(text: string): void {
    if (isAfterReturn) throw new FileFault(`Line ${line} has a carriage return without a line feed.`);
    if (state === 'closed') throw new FileFault(`Line ${line} goes on after the quote that ends a field.`);
    if (state === 'fresh') state = 'plain';
    add(text);
  }

  return {
    read: (piece) => {
      const records: CsvRecord[] = [];
      let from = 0;
      for (const { 0: sign, index } of piece.matchAll(/[",\r\n]/g)) {
        if (index > from) takeText(piece.slice(from, index));
        from = index + 1;
        for (const record of take(sign)) records.push(record);
      }
      if (from < piece.length) takeText(piece.slice(from));
      return records;
    },
    end: () => {
      if (state === 'quoted') throw new FileFault(`The quote that is opened on line ${begunAt} is never closed.`);
      if (isAfterReturn) throw new FileFault(`Line ${line} has a carriage return without a line feed.`);
      return fields.length === 0 && field === '' ? [] : endRecord();
    },
  };
}
