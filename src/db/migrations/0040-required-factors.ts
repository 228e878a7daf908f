// Accounts whose owner requires a second factor of every member.
export const requiredFactors = `
alter table accounts add column requires_second_factor FLAG not null default 0;
`;
