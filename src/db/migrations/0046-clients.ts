// The program that sent a request, in its account's history: domain/activity/. Earlier requests have none.
export const clients = 'alter table request_log add column client text;';
