// Three columns of a charge from which reports derive why its prompt was not read from the provider's
// cache, and a key's switch for cache marks. Earlier charges have none of it, and no digest of a seal covers it.
export const cacheTruth = `
alter table charges add column conversation text;
alter table charges add column cache_marks text;
alter table charges add column rank_routes integer;
alter table api_keys add column cache_marks FLAG not null default 1;
`;
