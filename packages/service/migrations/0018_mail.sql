-- Mail on its way out. Locks: none that matter, everything is new.

create schema mail;
grant usage on schema mail to purser_live;

-- Kept until it has been handed over, and for a while after; in development the mailbox page shows it.
create table mail.messages (
  message_id bigint generated always as identity primary key,
  recipient text not null,
  subject text not null,
  body text not null,
  created_at timestamptz not null default clock_timestamp()
);

grant select, insert on mail.messages to purser_live;
