import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '../../support/client.ts';
import { newOperator, newOwner } from '../../support/control.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';

/**
 * Sends edge cases of JSON numbers to every field that takes an amount. Each is stored exactly, or the answer is a 400 that
 * names the field and nothing has changed (WA-01).
 */

const { service, app } = await setStage();
const operator = await newOperator(service);
const owner = await newOwner(service);
const { appId } = await owner.get(201, 'POST', '/apps', { name: 'App' });

const MOST = 9_007_199_254_740_991n;

/**
 * Each JSON text has the exact whole number that it stands for. It is undefined if it stands for none. Minus zero
 * counts as none: no amount is written like that.
 */
const TEXTS: readonly (readonly [string, bigint?])[] = [
  ['0', 0n],
  ['-0'],
  ['0.0', 0n],
  ['-0.0'],
  ['0e9', 0n],
  ['0e-9', 0n],
  ['1', 1n],
  ['1.0', 1n],
  ['1.000000000000000000000', 1n],
  ['1e0', 1n],
  ['10e-1', 1n],
  ['0.1e1', 1n],
  ['2', 2n],
  ['999999', 999_999n],
  ['1e3', 1_000n],
  ['1E3', 1_000n],
  ['1e+3', 1_000n],
  ['1.5e1', 15n],
  ['1200e-2', 12n],
  ['2147483647', 2_147_483_647n],
  ['2147483648', 2_147_483_648n],
  ['4294967296', 4_294_967_296n],
  ['999999999999', 999_999_999_999n],
  ['1e12', 1_000_000_000_000n],
  ['1000000000001', 1_000_000_000_001n],
  ['1e15', 1_000_000_000_000_000n],
  ['9007199254740990', MOST - 1n],
  ['9007199254740991', MOST],
  ['9007199254740991.0', MOST],
  ['9.007199254740991e15', MOST],
  ['9007199254740992', MOST + 1n],
  ['9007199254740993', MOST + 2n],
  ['9007199254740991.4'],
  ['9007199254740990.6'],
  ['9223372036854775807', 9_223_372_036_854_775_807n],
  ['9223372036854775808', 9_223_372_036_854_775_808n],
  ['18446744073709551616', 18_446_744_073_709_551_616n],
  ['1e16', 10_000_000_000_000_000n],
  ['1e21', 1_000_000_000_000_000_000_000n],
  ['1e308', 10n ** 308n],
  ['1e400', 10n ** 400n],
  ['-1e400', -(10n ** 400n)],
  ['-1', -1n],
  ['-9007199254740991', -MOST],
  ['-1e3', -1_000n],
  ['0.5'],
  ['1.5'],
  ['-0.5'],
  ['1e-1'],
  ['1e-400'],
  ['5e-324'],
  ['1.00000000000000001'],
  ['0.99999999999999999'],
  ['999999999999.00000000001'],
  ['""'],
  ['"1"'],
  ['"1000"'],
  ['" 1 "'],
  ['"0x10"'],
  ['"1e3"'],
  ['"NaN"'],
  ['"∞"'],
  ['null'],
  ['true'],
  ['false'],
  ['[]'],
  ['[1]'],
  ['{}'],
  ['{"amount":1}'],
  ['{"valueOf":1}'],
];

/** These are not JSON at all, so the body as a whole is refused. */
const NO_JSON = [
  '0x10',
  '01',
  '+1',
  '1_000',
  '1n',
  '.5',
  '1.',
  '1e',
  'NaN',
  'Infinity',
  '-',
  '--1',
  '',
  '1 2',
  'undefined',
];

interface Field {
  readonly name: string;
  readonly least: bigint;
  readonly most: bigint;
  /** Sends the text as the field’s value. */
  readonly ask: (text: string) => Promise<Reply>;
  /** The stored value, as the answer reports it. */
  readonly stored: (body: Readonly<Record<string, unknown>>) => unknown;
}

let asked = 0;

/** Opens a new wallet for each request. */
function movement(act: string, stored: string): Field {
  return {
    name: 'amountMicros',
    least: 1n,
    most: MOST,
    ask: async (text) => {
      const user = `mover-${(asked += 1)}`;
      await service.fund(app, user, 0);
      const body = `{"reason":"x","idempotencyKey":"k","amountMicros":${text}}`;
      return operator.ask('POST', `/operator/apps/${app.appId}/wallets/${user}/${act}`, body);
    },
    stored: (body) => body[stored],
  };
}

function opening(name: string, least: bigint, stored: string): Field {
  return {
    name,
    least,
    most: MOST,
    ask: (text) => {
      const body = `{"userId":"opener-${(asked += 1)}","idempotencyKey":"k","${name}":${text}}`;
      return operator.ask('POST', `/operator/apps/${app.appId}/wallets`, body);
    },
    stored: (body) => body[stored],
  };
}

function reset(name: string): Field {
  return {
    name,
    least: 0n,
    most: MOST,
    ask: (text) => owner.ask('POST', `/apps/${String(appId)}/sandbox/users/tester/reset`, `{"${name}":${text}}`),
    stored: (body) => body[name],
  };
}

const ENTRY = {
  provider: 'upstream',
  providerModel: 'm',
  resale: 'open',
  contextTokens: 8_000,
  maxOutputTokens: 1_000,
  // Something with a cost, no matter what the tested field says.
  cacheWriteMicrosPerMillion: 1,
  price: { inputMicrosPerMillion: 1, cachedInputMicrosPerMillion: 1, outputMicrosPerMillion: 1 },
};

function price(name: string, most: bigint): Field {
  const [field = '', inner] = name.split('.');
  return {
    name,
    least: 0n,
    most,
    ask: (text) => {
      const entry: Record<string, unknown> = { ...ENTRY };
      entry[field] = inner === undefined ? 'HERE' : { ...ENTRY.price, [inner]: 'HERE' };
      return operator.ask(
        'PUT',
        '/operator/models/acme.edge-1',
        JSON.stringify(entry).replace('"HERE"', () => text),
      );
    },
    stored: (body) => (inner === undefined ? body[field] : (body[field] as Record<string, unknown>)[inner]),
  };
}

const PRICE_MAX = 1_000_000_000_000n;

const FIELDS: readonly (readonly [string, Field])[] = [
  ['a credit', movement('credit', 'balanceMicros')],
  ['a refund', movement('refund', 'shortfallMicros')],
  ['a claw-back', movement('clawback', 'shortfallMicros')],
  ['the credit of a wallet that is opened', opening('creditMicros', 1n, 'balanceMicros')],
  ['the cap of a wallet that is opened', opening('spendCapMicros', 0n, 'spendCapMicros')],
  ['the balance of a sandbox reset', reset('balanceMicros')],
  ['the cap of a sandbox reset', reset('spendCapMicros')],
  ['the price of input', price('price.inputMicrosPerMillion', PRICE_MAX)],
  ['the price of cached input', price('price.cachedInputMicrosPerMillion', PRICE_MAX)],
  ['the price of output', price('price.outputMicrosPerMillion', PRICE_MAX)],
  ['the price of writing to a cache', price('cacheWriteMicrosPerMillion', PRICE_MAX)],
  ['the margin', price('marginBasisPoints', 1_000_000n)],
];

/** The state that a refused amount must not change. */
async function books(): Promise<unknown> {
  return sql(service)`select (select jsonb_agg(e order by e.wallet_id, e.seq) from ledger.entries e) as entries,
    (select jsonb_agg(w order by w.wallet_id) from ledger.wallets w where balance_micros + shortfall_micros > 0
      or cap_micros is not null) as wallets,
    (select jsonb_agg(s order by s.wallet_id) from sandbox.wallets s) as play,
    (select jsonb_agg(m order by m.model_id) from catalogue.models m) as models,
    (select max(price_id) from catalogue.prices) as prices,
    (select max(entry_id) from audit.entries) as trail`;
}

function isFit({ least, most }: Field, value: bigint | undefined): boolean {
  return value !== undefined && value >= least && value <= most;
}

for (const [what, field] of FIELDS) {
  test(`WA-01 ${what} is exact for ${TEXTS.length} edge cases, or refused by its field`, async () => {
    for (const [text, value] of TEXTS) {
      if (!isFit(field, value)) continue;
      const reply = await field.ask(text);
      assert.ok(reply.status === 200 || reply.status === 201, `${text}: ${reply.text}`);
      assert.equal(field.stored(reply.body), Number(value), `${text}: ${reply.text}`);
      assert.match(reply.text, new RegExp(`:${value}[,}]`), text);
    }
    // The books are read once for all that is refused: they grow, and what is new in them names its request.
    const before = await books();
    for (const [text, value] of TEXTS) {
      if (isFit(field, value)) continue;
      assertRefusal(await field.ask(text), { code: 'BAD_REQUEST', param: field.name, hasLink: false }, text);
    }
    for (const text of NO_JSON) {
      assertRefusal(await field.ask(text), { code: 'BAD_REQUEST', param: null, hasLink: false }, text);
    }
    assert.deepEqual(await books(), before);
    assert.deepEqual(await service.check(), []);
  });
}
