import type { Mutant } from '../mutant.ts';
import {
  bookedBefore,
  causeOf,
  clawingBack,
  credit,
  crediting,
  ledgerTables,
  listening,
  locks,
  lockWallet,
  move,
  reinstate,
  reporting,
  setConnected,
  takeBack,
  takingBack,
  tellLowBalances,
} from './places.ts';

const OWN_THRESHOLDS = 'WH-15 WH-05 each listener and the endpoint have their own threshold';

const UNTOLD = 'WH-05 WH-06 a disconnected wallet causes no event until it reconnects';

const TAKEN_ABOVE = 'WA-05 WA-06 a claw_back above the balance suspends the wallet';
const CREDIT_ONCE = 'WA-09 another amount under a credit’s key conflicts';

/** Faults in money that moves other than by calls, and in what suspends and reinstates. */
export const MONEY_OUT_FAULTS: readonly Mutant[] = [
  {
    id: 'credit-locks-nothing',
    clause: 'WA-09',
    edits: [
      lockWallet(
        'where w.app_id = p_app and w.user_id = p_user for no key update',
        'where w.app_id = p_app and w.user_id = p_user',
      ),
    ],
    killer: locks('WA-09 two waiting credits under one key count once'),
  },
  {
    id: 'credit-booked-twice',
    clause: 'WA-09',
    edits: [
      credit('before := ledger.booked_before(entry_cause, array[kind], p_amount);', ''),
      ledgerTables(',\n  unique (cause, kind)\n', '\n'),
    ],
    killer: crediting(CREDIT_ONCE),
  },
  {
    id: 'conflict-told-as-repeated',
    clause: 'WA-09',
    edits: [bookedBefore(`else 'conflict' end`, `else 'repeated' end`)],
    killer: crediting(CREDIT_ONCE),
  },
  {
    id: 'key-counts-for-all-wallets',
    clause: 'WA-09',
    edits: [causeOf(`|| ':' || p_wallet || ':' || p_key`, `|| ':' || p_key`)],
    killer: crediting('WA-09 a key on another wallet is another credit'),
  },
  {
    id: 'key-counts-for-all-kinds',
    clause: 'WA-09',
    edits: [
      causeOf(`else p_kind::text end ||`, `else 'act' end ||`),
      bookedBefore('e.cause = p_cause and e.kind = any (p_kinds)', 'e.cause = p_cause'),
    ],
    killer: takingBack('WA-09 a key counts separately per kind and wallet'),
  },
  {
    id: 'claw-back-below-zero',
    clause: 'WA-06',
    edits: [
      takeBack('there := least(p_amount, wallet.balance_micros);', 'there := p_amount;'),
      ledgerTables('least(balance_micros, held', 'least(held'), // Two constraints would stop it.
      ledgerTables(' check (balance_after_micros >= 0)', ''),
    ],
    killer: takingBack(TAKEN_ABOVE),
  },
  {
    id: 'claw-back-owes-nothing',
    clause: 'WA-06',
    edits: [takeBack('if p_amount > there then', 'if false then')],
    killer: takingBack(TAKEN_ABOVE),
  },
  {
    id: 'claw-back-does-not-suspend',
    clause: 'WA-05',
    edits: [
      move('is_suspended = w.is_suspended or owed > 0,', ''),
      ledgerTables('check (shortfall_micros = 0 or is_suspended)', 'check (true)'), // Which would stop it.
    ],
    killer: takingBack(TAKEN_ABOVE),
  },
  {
    id: 'claw-back-spares-what-is-held',
    clause: 'WA-06',
    edits: [
      takeBack(
        'there := least(p_amount, wallet.balance_micros);',
        'there := least(p_amount, wallet.balance_micros - wallet.held_micros);',
      ),
    ],
    killer: takingBack('WA-06 a claw-back takes even money that calls hold'),
  },
  {
    id: 'money-lifts-a-suspension',
    clause: 'WA-04',
    edits: [move('is_suspended = w.is_suspended or owed > 0,', 'is_suspended = owed > 0,')],
    killer: clawingBack('WA-04 funding does not lift a wallet’s suspension'),
  },
  {
    id: 'recovery-from-held-money',
    clause: 'WA-06',
    edits: [
      reinstate(
        'wallet.balance_micros - wallet.held_micros < wallet.shortfall_micros',
        'wallet.balance_micros < wallet.shortfall_micros',
      ),
    ],
    killer: takingBack('WA-06 money held by calls covers no shortfall'),
  },
  {
    id: 'write-off-taken-from-the-balance',
    clause: 'WA-06',
    edits: [reinstate(`case when p_write_off then 'write_off' else 'recovery' end`, `'recovery'`)],
    killer: takingBack('WA-06 writing off a shortfall lifts the suspension'),
  },
  {
    id: 'disconnecting-lifts-a-suspension',
    clause: 'WA-11',
    edits: [
      setConnected('set is_connected = p_connected,', 'set is_connected = p_connected, is_suspended = false,'),
      ledgerTables('check (shortfall_micros = 0 or is_suspended)', 'check (true)'), // Which would stop it.
    ],
    killer: takingBack('WA-11 each fact of a wallet that is connected and suspended changes alone'),
  },
  {
    id: 'reinstating-connects',
    clause: 'WA-11',
    edits: [reinstate('set is_suspended = false, version', 'set is_suspended = false, is_connected = true, version')],
    killer: takingBack('WA-11 each fact of a wallet that is disconnected and suspended changes alone'),
  },
  {
    id: 'low-balance-by-the-lowest-threshold',
    clause: 'WH-05',
    edits: [tellLowBalances('max(s.low_balance_threshold_micros)', 'min(s.low_balance_threshold_micros)')],
    killer: listening(OWN_THRESHOLDS),
  },
  {
    id: 'low-balance-of-the-disconnected',
    clause: 'WH-05',
    edits: [
      tellLowBalances('where c.is_connected and webhooks.spendable', 'where webhooks.spendable'),
      tellLowBalances('where c.is_connected\n      and webhooks', 'where webhooks'),
    ],
    killer: reporting(UNTOLD),
  },
  {
    id: 'payment-of-the-disconnected-told',
    clause: 'WH-06',
    edits: [credit(`if kind = 'top_up' and wallet.is_connected then`, `if kind = 'top_up' then`)],
    killer: reporting(UNTOLD),
  },
  {
    id: 'low-balance-that-was-low-before',
    clause: 'WH-05',
    edits: [tellLowBalances('f.available_before >= t.low_balance_threshold_micros and ', '')],
    killer: listening(OWN_THRESHOLDS),
  },
];
