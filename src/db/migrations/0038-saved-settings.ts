// Settings that operators save: domain/settings/settings-versions.ts.
export const savedSettings = `
create table settings_versions (
  version INT primary key, created_at_ms INT not null, author text not null, note text not null,
  rereads_file FLAG not null, sealed text not null, secret_id ID not null
) STRICT;
`;
