import type { WireRequest } from '#gateway/call/wire.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/** A refusal that names a field as its caller wrote it. */
export function withCallersName(
  nameOf: WireRequest['nameOf'],
  refusal: Refusal<'BAD_REQUEST'>,
): Refusal<'BAD_REQUEST'> {
  const { code, message, detail } = refusal;
  const { param } = detail;
  const named = param === undefined ? '' : nameOf(param);
  // What is advised names other fields.
  const words = message.replaceAll(/`([^`]+)`/g, (shown, path: string) => {
    const name = nameOf(path);
    return name === '' ? shown : `\`${name}\``;
  });
  return refuse(code, words, named === '' ? detail : { ...detail, param: named });
}
