-- Mail on its way out.

create schema mail;
grant usage on schema mail to purser_live;

-- The outbox. A message waits here until a mail server has taken it or it is given up, and is removed some days later. Its texts are
-- sealed (decision 74): they may hold an address, a code or a link that is a secret.
create table mail.messages (
  message_id bigint generated always as identity primary key,
  -- Its name on the wire, the same at every try, so that a message that arrives twice can be known for one.
  message_key uuid not null unique default gen_random_uuid(),
  sealed_recipient text not null,
  subject text not null,
  -- The same words as plain text and as HTML. Both are cleared when the message has ended, except in development.
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
  check (ended_at is not null or body is not null),
  constraint messages_sealed check (
    sealed_recipient ~ '^e1[.][A-Za-z0-9_-]+$' and subject ~ '^e1[.][A-Za-z0-9_-]+$' and body ~ '^e1[.][A-Za-z0-9_-]+$' and html ~ '^e1[.][A-Za-z0-9_-]+$'
  )
);
create index messages_waiting on mail.messages (next_try_at) where ended_at is null;
create index messages_created on mail.messages (created_at);
create index messages_to on mail.messages (sealed_recipient); -- A person who is deleted takes the mails to them along (CP-12).

grant select, insert, update, delete on mail.messages to purser_live;
