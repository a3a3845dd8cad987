import { type Html, html } from '#kernel/text/html.ts';
import type { Micros } from '#kernel/values/micros.ts';
import type { CallTrace } from '#calls/traces/traces.ts';
import type { KnownCall } from '#http/planes/find-calls.ts';
import { CALL_TEXTS as TEXTS } from '#web/console/calls/texts.ts';

interface Step {
  readonly name: string;
  readonly what: string;
}

/** What happened to a call, step by step, as far as it got. */
export function timelineOf({ trace, receipt }: KnownCall, written: (amount: Micros) => string): readonly Step[] {
  if (trace?.outcome === 'replayed') return [{ name: TEXTS.provider, what: TEXTS.replay }];
  const admitted = { name: TEXTS.admitted, what: TEXTS.began };
  const hadHold = receipt !== undefined || (trace?.mode === 'sandbox' && trace.outcome !== 'refused');
  if (!hadHold) return [{ name: TEXTS.notAdmitted, what: TEXTS.free }];
  const held = {
    name: TEXTS.held,
    what: receipt === undefined ? TEXTS.sandboxHeld : TEXTS.heldUpTo(written(receipt.held)),
  };
  const outcome = receipt?.outcome ?? trace?.outcome;
  const asked = { name: TEXTS.provider, what: outcomeText(outcome, trace?.failure?.kind) };
  const charged = receipt?.charged ?? trace?.charged;
  if (charged === undefined) return [admitted, held, asked];
  const settled =
    receipt === undefined
      ? TEXTS.chargedOnly(written(charged))
      : TEXTS.chargedOf(written(charged), written(receipt.released));
  return [admitted, held, asked, { name: TEXTS.settled, what: settled }];
}

/** The message of a refusal. It may name all parameters, which is too long for a list of facts. */
export function saidBy(trace: CallTrace | undefined): Html | undefined {
  return trace?.message === undefined ? undefined : html`<p>${TEXTS.said}: <bdi>${trace.message}</bdi></p>`;
}

function outcomeText(outcome: string | undefined, failure: string | undefined): string {
  if (outcome === 'answered') return TEXTS.answeredBy;
  if (outcome === 'abandoned') return TEXTS.abandonedBy;
  return failure === undefined ? TEXTS.failedBare : TEXTS.failedBy(failure);
}
