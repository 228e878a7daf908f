// The operator's list of all payments is read newest first.
export const paymentsByTime = `
create index payments_by_time on payments (paid_at_ms desc, id desc) where paid_at_ms is not null;
`;
