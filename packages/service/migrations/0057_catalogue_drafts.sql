-- Catalogues that operators have sent and not applied yet (decision 0069). A draft is deleted when it is applied, or after a day.
create table catalogue.drafts (
  draft_id text collate "C" primary key,
  file jsonb not null,
  base_version bigint, -- Of the catalogue that a price list was compared with. Null for a whole file.
  report text not null,
  created_at timestamptz not null default clock_timestamp()
);

grant select, insert, delete on catalogue.drafts to purser_live;
