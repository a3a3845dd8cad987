-- Lists of wallets for operators (decision 0067): all of them, those of an app, those that are suspended or disconnected,
-- and those of a user id. No call changes these columns, so updates of wallets by calls stay heap-only. The expressions
-- keep the indexes out of the statements of calls, which find a wallet by its app and user.
create index wallets_by_age on ledger.wallets (created_at, wallet_id);
create index wallets_of_app_by_age on ledger.wallets ((app_id || ''), created_at, wallet_id);
create index wallets_out_of_order on ledger.wallets (created_at, wallet_id) where is_suspended or not is_connected;
create index wallets_of_user on ledger.wallets ((user_id || ' ' || app_id));
