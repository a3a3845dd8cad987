-- Export and deletion of a person who owns wallets (CP-12).
-- A person who is deleted is taken out of the checkouts that they began, and these are found by it. Few rows: people pay seldom.
create index checkouts_of_identity on payments.checkouts (identity_id) where identity_id is not null;
-- Mails to a person go with them.
create index messages_to on mail.messages (recipient);
-- The owner of the wallet was deleted, and not only released from it. Money that comes later is for a person to decide about.
alter table connections.releases add column is_deletion boolean not null default false;
grant update (is_deletion) on connections.releases to purser_live;
alter table payments.payments drop constraint payments_anomaly_check,
  add constraint payments_anomaly_check
    check (anomaly in ('amount', 'currency', 'second', 'no_wallet', 'too_much', 'owner_deleted'));
