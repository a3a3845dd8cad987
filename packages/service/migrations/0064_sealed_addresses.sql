-- E-mail addresses are kept sealed (decision 0077). Code seals the rows of today at the next start, in batches, and then validates
-- these constraints. Until then they hold for new and changed rows only. They also stop processes of an older version: one of those
-- would not find a sealed person and would make a second one.
alter table accounts.accounts drop constraint accounts_email_check,
  add constraint accounts_email_sealed check (email ~ '^e1[.][A-Za-z0-9_-]+$') not valid;
alter table accounts.invitations drop constraint invitations_email_check,
  add constraint invitations_email_sealed check (email ~ '^e1[.][A-Za-z0-9_-]+$') not valid;
alter table identities.identities drop constraint identities_email_check,
  add constraint identities_email_sealed check (email ~ '^e1[.][A-Za-z0-9_-]+$') not valid;
alter table identities.codes add constraint codes_email_sealed check (email ~ '^e1[.][A-Za-z0-9_-]+$') not valid;
alter table identities.moves
  add constraint moves_sealed check (before ~ '^e1[.][A-Za-z0-9_-]+$' and after ~ '^e1[.][A-Za-z0-9_-]+$') not valid;
alter table operator.pending_acts
  add constraint pending_acts_emails_sealed check (requested_email ~ '^e1[.][A-Za-z0-9_-]+$' and decided_email ~ '^e1[.][A-Za-z0-9_-]+$') not valid;

-- Under its old name, a process of an older version would hand a sealed address to the mail server and give the mail up.
alter table mail.messages rename column recipient to sealed_recipient;
alter table mail.messages drop constraint messages_recipient_check, drop constraint messages_subject_check,
  add constraint messages_sealed check (
    sealed_recipient ~ '^e1[.][A-Za-z0-9_-]+$' and subject ~ '^e1[.][A-Za-z0-9_-]+$' and body ~ '^e1[.][A-Za-z0-9_-]+$' and html ~ '^e1[.][A-Za-z0-9_-]+$'
  ) not valid;
