-- Pictures of apps, which their users see where they consent and pay. Locks: none that matter, the table is new.

create table accounts.app_logos (
  app_id text collate "C" primary key references accounts.apps,
  digest bytea not null check (digest = sha256(image)), -- Its address, so that browsers may keep it for good.
  type text not null check (type in ('image/png', 'image/jpeg', 'image/webp')),
  image bytea not null check (length(image) between 1 and 16384)
);
create index app_logos_digest on accounts.app_logos (digest); -- Two apps may have the same.

grant select, insert, update, delete on accounts.app_logos to purser_live;
