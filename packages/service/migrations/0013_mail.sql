-- Mail on its way out.

create schema mail;
grant usage on schema mail to purser_live;

-- The outbox. A message waits here until a mail server has taken it or it is given up, and is removed some days later.
create table mail.messages (
  message_id bigint generated always as identity primary key,
  -- Its name on the wire, the same at every try, so that a message that arrives twice can be known for one.
  message_key uuid not null unique default gen_random_uuid(),
  -- One address, without anything that could end a header or begin a second recipient.
  recipient text not null check (length(recipient) <= 254 and recipient ~ '^[^\x01-\x20\x7f<>,;:"()\[\]\\@]+@[^\x01-\x20\x7f<>,;:"()\[\]\\@]+$'),
  subject text not null check (length(subject) >= 1 and length(subject) <= 200 and subject !~ '[\x01-\x1f\x7f]'),
  -- The same words as plain text and as HTML. They may hold a code or a link that is a secret, so both are cleared when
  -- the message has ended, except in development.
  body text,
  html text,
  created_at timestamptz not null default clock_timestamp(),
  tries int not null default 0,
  -- Moved on before a try begins, so that a process that dies in one leaves nothing to be undone.
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
