-- Refunds on their way. In a file of its own: new values of a type cannot be used in the transaction that adds them.
-- Locks: none that matter.

alter type ledger.book add value 'outgoing'; -- What is set aside for refunds that a payment processor was asked for.
alter type ledger.entry_kind add value 'refund_set_aside'; -- Out of the wallet, before the processor is asked.
alter type ledger.entry_kind add value 'refund_paid'; -- The processor has paid it back.
alter type ledger.entry_kind add value 'refund_released'; -- It declined: back into the wallet.
