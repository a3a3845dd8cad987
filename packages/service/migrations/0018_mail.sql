-- Mail on its way out. Locks: none that matter, everything is new.

create schema mail;
grant usage on schema mail to purser_live;

-- The outbox: a message waits here until a mail server has taken it, or it is given up. It is removed some days later.
create table mail.messages (
  message_id bigint generated always as identity primary key,
  -- Its name on the wire, the same at every try: a message that arrives twice can be known for one.
  message_key uuid not null unique default gen_random_uuid(),
  -- One address, and nothing that could end a header or begin a second recipient.
  recipient text not null check (length(recipient) <= 254 and recipient ~ '^[^\x01-\x20\x7f<>,;:"()\[\]\\@]+@[^\x01-\x20\x7f<>,;:"()\[\]\\@]+$'),
  subject text not null check (length(subject) between 1 and 200 and subject !~ '[\x01-\x1f\x7f]'),
  body text, -- Plain. It may hold a secret of its reader's: gone once the message has ended, but for development.
  created_at timestamptz not null default clock_timestamp(),
  tries int not null default 0,
  -- Whoever begins a try moves this on first: who dies in it, or fails, leaves nothing that must be undone.
  next_try_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  -- taken: by the mail server; refused: it will not have this recipient; given_up: nobody took it within a day.
  outcome text check (outcome in ('taken', 'refused', 'given_up')),
  check ((ended_at is null) = (outcome is null)),
  check (ended_at is not null or body is not null)
);
create index messages_waiting on mail.messages (next_try_at) where ended_at is null;
create index messages_created on mail.messages (created_at);

grant select, insert, update, delete on mail.messages to purser_live;
