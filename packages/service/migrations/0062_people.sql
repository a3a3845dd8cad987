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

-- Which addresses a person was moved between (WA-15). The audit trail keeps its lines for good, so it does not name them; these rows go with
-- the person. Rows of before are in the trail alone.
create table identities.moves (
  move_id bigint generated always as identity primary key,
  identity_id text collate "C" not null references identities.identities,
  before text not null,
  after text not null,
  at timestamptz not null default clock_timestamp()
);
create index moves_of on identities.moves (identity_id);
grant select, delete on identities.moves to purser_live;
grant insert (identity_id, before, after) on identities.moves to purser_live;
