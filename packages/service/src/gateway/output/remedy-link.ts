import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/** Clients of some wires show the message of an error and nothing beside it, so it holds the link to the remedy (WI-07). */
export function withRemedyLink(refusal: Refusal): Refusal {
  const { code, message, detail } = refusal;
  const { topupUrl } = detail;
  return topupUrl === undefined ? refusal : refuse(code, `${message} ${topupUrl}`, detail);
}
