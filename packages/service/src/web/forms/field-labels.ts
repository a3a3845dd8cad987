import type { ErrorCode } from '@purser/contract/errors.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/**
 * A refusal of a service in the words of a page. A service names a field as the API does, such as `endpointUrl`; people only see its
 * label. `labels`: what the page calls each field.
 */
export function withFieldLabels<Code extends ErrorCode>(
  { code, message, detail }: Refusal<Code>,
  labels: Readonly<Record<string, string>>,
): Refusal<Code> {
  const words = message.replaceAll(/`([\w.]+)`/g, (whole, field: string) =>
    Object.hasOwn(labels, field) ? `“${labels[field]}”` : whole,
  );
  return refuse(code, words, detail);
}
