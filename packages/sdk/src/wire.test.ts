import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { z } from 'zod';
import type {
  balanceSchema,
  connectLinkSchema,
  connectRequestSchema,
  usageSummarySchema,
} from '@purser/contract/data-plane.ts';
import { ERROR_STATUS, type ErrorCode as WireCode } from '@purser/contract/errors.ts';
import type { receiptSchema } from '@purser/contract/usage.ts';
import { EVENT_TYPES } from '@purser/contract/webhooks.ts';
import type { CallOptions } from './api.ts';
import type { ConnectOptions } from './client.ts';
import type { Balance, ConnectLink, ErrorCode, PaymentCode, Receipt, UsageSummary, WebhookEvent } from './wire.ts';

/** Compiles only if both are the same type, field by field. */
type Same<One, Other> = [One, keyof One] extends [Other, keyof Other]
  ? [Other, keyof Other] extends [One, keyof One]
    ? 'same'
    : ['more', One, Other]
  : ['less', One, Other];
type Flat<Fields> = { [Name in keyof Fields]: Flat<Fields[Name]> };

type CodeOf<Status> = { [Code in WireCode]: (typeof ERROR_STATUS)[Code] extends Status ? Code : never }[WireCode];
type Own = Omit<ConnectOptions, keyof CallOptions>;
type OwnConnectOptions = { -readonly [Name in keyof Own]: Own[Name] };

// `tsc` checks this: if the shape on the wire changes, this file does not compile.
const SAME: {
  readonly balance: Same<Flat<Balance>, Flat<z.output<typeof balanceSchema>>>;
  readonly usage: Same<Flat<UsageSummary>, Flat<z.output<typeof usageSummarySchema>>>;
  readonly receipt: Same<Flat<Receipt>, Flat<z.output<typeof receiptSchema>>>;
  readonly link: Same<Flat<ConnectLink>, Flat<z.output<typeof connectLinkSchema>>>;
  readonly connect: Same<Flat<OwnConnectOptions>, Flat<z.input<typeof connectRequestSchema>>>;
  readonly codes: Same<ErrorCode, WireCode>;
  readonly paymentCodes: Same<PaymentCode, CodeOf<402>>;
  readonly events: Same<WebhookEvent['type'], (typeof EVENT_TYPES)[number]>;
} = {
  balance: 'same',
  usage: 'same',
  receipt: 'same',
  link: 'same',
  connect: 'same',
  codes: 'same',
  paymentCodes: 'same',
  events: 'same',
};

test('SDK-02 answers, requests, codes and events are typed like the service’s', () => {
  assert.ok(Object.values(SAME).every((held) => held === 'same'));
});
