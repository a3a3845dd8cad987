import { assert } from '#kernel/faults/assert.ts';
import type { JsonObject } from '#kernel/text/json.ts';

/**
 * How a field is written. `hex` is bytes, as OTLP/JSON writes ids; 64-bit numbers are decimal texts there. Any other word is
 * the name of a message.
 */
type FieldType = string;

/** The fields of a message, by their names in OTLP/JSON: number, type, and whether there may be several. */
type MessageFields = Readonly<Record<string, readonly [number: number, type: FieldType, isList?: true]>>;
export type Messages = Readonly<Record<string, MessageFields>>;

const VARINT = 0;
const BYTES_8 = 1;
const DELIMITED = 2;
const BYTES_4 = 5;
const FIRST_SIZE = 16 * 1024;
const NEGATIVE_BYTES = 10;

/**
 * Writes an object in the shape of OTLP/JSON as a protobuf message. Fields that the message does not have are a fault, so that a
 * misspelt name cannot get lost.
 */
export function encodeMessage(messages: Messages, name: string, value: JsonObject): Buffer {
  const writer = new BackwardWriter();
  writeMessage(writer, messages, { name, value });
  return writer.bytes();
}

function writeMessage(writer: BackwardWriter, messages: Messages, { name, value }: Named): void {
  const fields = messages[name] ?? {};
  const keys = Object.keys(value);
  for (let at = keys.length - 1; at >= 0; at -= 1) {
    const key = keys[at] ?? '';
    const [number, type, isList] = fields[key] ?? [];
    assert(number !== undefined && type !== undefined, `${name} has a field ${key}`);
    const member = value[key];
    if (member === undefined) continue;
    if (isList !== true) {
      writeField(writer, messages, { number, type, item: member });
      continue;
    }
    const items = member as readonly unknown[];
    if (wireTypeOf(type) === DELIMITED) {
      for (let place = items.length - 1; place >= 0; place -= 1) {
        writeField(writer, messages, { number, type, item: items[place] });
      }
    } else writePacked(writer, messages, { number, type, items });
  }
}

interface Named {
  readonly name: string;
  readonly value: JsonObject;
}

interface Field {
  readonly number: number;
  readonly type: FieldType;
  readonly item: unknown;
}

function writeField(writer: BackwardWriter, messages: Messages, { number, type, item }: Field): void {
  const end = writer.written();
  const wire = wireTypeOf(type);
  writeValue(writer, messages, { type, item });
  if (wire === DELIMITED) writer.varint(writer.written() - end);
  writer.varint((number << 3) | wire);
}

/** A list of numbers is one field with all of them, as version 3 of the language has it. Some readers take nothing else. */
function writePacked(
  writer: BackwardWriter,
  messages: Messages,
  { number, type, items }: Pick<Field, 'number' | 'type'> & { readonly items: readonly unknown[] },
): void {
  if (items.length === 0) return;
  const end = writer.written();
  for (let place = items.length - 1; place >= 0; place -= 1) writeValue(writer, messages, { type, item: items[place] });
  writer.varint(writer.written() - end);
  writer.varint((number << 3) | DELIMITED);
}

function writeValue(writer: BackwardWriter, messages: Messages, { type, item }: Pick<Field, 'type' | 'item'>): void {
  switch (type) {
    case 'string':
      writer.text(String(item));
      break;
    case 'hex':
      writer.raw(Buffer.from(String(item), 'hex'));
      break;
    case 'double':
      writer.double(Number(item));
      break;
    case 'fixed64':
      writer.fixed64(BigInt(String(item)));
      break;
    case 'fixed32':
      writer.fixed32(Number(item));
      break;
    case 'int64':
      writer.int64(String(item));
      break;
    case 'enum':
    case 'bool':
      writer.varint(Number(item));
      break;
    default:
      writeMessage(writer, messages, { name: type, value: item as JsonObject });
  }
}

function wireTypeOf(type: FieldType): number {
  if (type === 'double' || type === 'fixed64') return BYTES_8;
  if (type === 'fixed32') return BYTES_4;
  return type === 'int64' || type === 'enum' || type === 'bool' ? VARINT : DELIMITED;
}

/** Writes from the end to the beginning, because a message is preceded by its length. */
class BackwardWriter {
  #buffer = Buffer.allocUnsafe(FIRST_SIZE);
  #at = FIRST_SIZE;

  written(): number {
    return this.#buffer.length - this.#at;
  }

  bytes(): Buffer {
    return this.#buffer.subarray(this.#at);
  }

  text(value: string): void {
    const length = Buffer.byteLength(value);
    const at = this.#room(length); // First, because it may change the buffer.
    this.#buffer.write(value, at, length);
  }

  raw(value: Buffer): void {
    const at = this.#room(value.length);
    value.copy(this.#buffer, at);
  }

  double(value: number): void {
    const at = this.#room(8);
    this.#buffer.writeDoubleLE(value, at);
  }

  fixed64(value: bigint): void {
    const at = this.#room(8);
    this.#buffer.writeBigUInt64LE(value, at);
  }

  fixed32(value: number): void {
    const at = this.#room(4);
    this.#buffer.writeUInt32LE(value, at);
  }

  /** Writes a number with seven bits a byte, the lowest first. Each byte but the last has its top bit set. */
  varint(value: number): void {
    if (value < 0x80) {
      const only = this.#room(1);
      this.#buffer[only] = value;
      return;
    }
    let length = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length += 1;
    let at = this.#room(length);
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) {
      this.#buffer[at] = (rest % 0x80) | 0x80;
      at += 1;
    }
    this.#buffer[at] = rest;
  }

  /** A whole number within what JavaScript counts exactly. A negative one takes ten bytes, as its two's complement. */
  int64(text: string): void {
    const value = Number(text);
    if (value >= 0) return this.varint(value);
    let rest = BigInt.asUintN(64, BigInt(text));
    const bytes = Buffer.alloc(NEGATIVE_BYTES, 0x80);
    for (let at = 0; at < NEGATIVE_BYTES; at += 1) {
      bytes[at] = Number(rest & 0x7fn) | (at === NEGATIVE_BYTES - 1 ? 0 : 0x80);
      rest >>= 7n;
    }
    this.raw(bytes);
  }

  #room(length: number): number {
    if (this.#at < length) this.#grow(length);
    this.#at -= length;
    return this.#at;
  }

  #grow(length: number): void {
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.written() + length));
    const at = larger.length - this.written();
    this.#buffer.copy(larger, at, this.#at);
    this.#buffer = larger;
    this.#at = at;
  }
}
