-- payments.refuse_leaving bars checkouts too, so the trigger of its own is gone. Locks payments.checkouts for a moment.
drop trigger if exists checkouts_of_wallets_here on payments.checkouts;
