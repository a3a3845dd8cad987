import { crc32 } from 'node:zlib';

/**
 * AWS's binary event streams (`application/vnd.amazon.eventstream`), written from their documentation: a prelude of two lengths with
 * a CRC of its own, headers, payload, and a CRC of everything.
 */
const STRING = 7;

function headerBytes(name: string, value: string): Buffer {
  const nameBytes = Buffer.from(name);
  const valueBytes = Buffer.from(value);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(valueBytes.length);
  return Buffer.concat([Buffer.from([nameBytes.length]), nameBytes, Buffer.from([STRING]), length, valueBytes]);
}

/** One frame: an event, or an exception that ends the stream. */
export function frame(kind: 'event' | 'exception', type: string, payload: unknown): Buffer {
  const headers = Buffer.concat([
    headerBytes(kind === 'event' ? ':event-type' : ':exception-type', type),
    headerBytes(':content-type', 'application/json'),
    headerBytes(':message-type', kind),
  ]);
  const body = Buffer.from(JSON.stringify(payload));
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(prelude.length + headers.length + body.length + 4, 0);
  prelude.writeUInt32BE(headers.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const message = Buffer.concat([prelude, headers, body]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(message));
  return Buffer.concat([message, checksum]);
}
