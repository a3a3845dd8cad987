-- Mail as HTML beside its plain text. Locks: a short one on mail.messages.

-- The same words as the text, and gone with it. Null for messages from before.
alter table mail.messages add column html text;
