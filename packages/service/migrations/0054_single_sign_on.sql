-- Operators who sign in through an OpenID Connect provider (decision 0075). The provider names a person by issuer and subject, and
-- neither ever changes. Such an account has no password: the provider alone says who it is.
alter table accounts.accounts
  add column sso_issuer text collate "C" check (length(sso_issuer) between 1 and 2048),
  add column sso_subject text collate "C" check (length(sso_subject) between 1 and 255),
  add constraint accounts_sso_whole check ((sso_issuer is null) = (sso_subject is null)),
  add constraint accounts_sso_without_password check (sso_subject is null or password_hash is null);
create unique index accounts_sso on accounts.accounts (sso_issuer, sso_subject) where sso_subject is not null;

alter table audit.sign_ins
  drop constraint sign_ins_result_check,
  add constraint sign_ins_result_check check (result in ('signed_in', 'wrong_password', 'too_many_attempts',
    'password_reset', 'wrong_code', 'refused_passkey', 'needs_second_factor', 'wrong_second_factor', 'refused_sso'));
