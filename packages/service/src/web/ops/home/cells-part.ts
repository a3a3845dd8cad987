import type { OtherCellAttention } from '#http/cells/operators/attention.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { microsSumFromRow } from '#kernel/values/micros.ts';
import type { Attention } from '#operator/health/attention.ts';
import { badge } from '#web/components/badge.ts';
import { list } from '#web/components/list.ts';
import { OVERVIEW_TEXTS as TEXTS } from '#web/ops/home/texts.ts';

/** Adds the money that calls hold in the other cells. */
export function withHeld(own: Attention, others: readonly OtherCellAttention[]): Attention {
  const all = [own, ...others.flatMap(({ attention }) => attention ?? [])].map(({ held }) => held);
  const sum = (of: (held: Attention['held']) => bigint) => all.reduce((total, held) => total + of(held), 0n);
  return {
    ...own,
    held: { amount: microsSumFromRow(sum(({ amount }) => amount)), calls: Number(sum(({ calls }) => BigInt(calls))) },
  };
}

/** What the other cells need, in a line each. */
export function cellsPart(own: string | undefined, others: readonly OtherCellAttention[]): Html | undefined {
  if (own === undefined) return undefined;
  const lines = others.map(({ cell, attention }) => {
    if (attention === undefined) return html`<div>${TEXTS.cell(cell)} ${badge(TEXTS.cellAway, 'warn')}</div>`;
    // Names follow the colon here only: they are looked up in that cell.
    const needs = attention.findings.map(({ kind, count }) => TEXTS.findings[kind](count).replace(/:$/, '.'));
    const state = needs.length === 0 ? badge(TEXTS.nothing, 'good') : needs.join(' ');
    return html`<div>${TEXTS.cell(cell)} ${state}</div>`;
  });
  return html`<p class="soft">${TEXTS.ownCell(own)}</p>${list(lines)}`;
}
