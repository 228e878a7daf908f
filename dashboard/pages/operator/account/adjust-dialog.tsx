// A credit or a debit by hand: asks for amount and reason, then shows what the balance will be before anything is booked.
import { Alert, Button, Group, Modal, Stack, Table, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import type { ApiError } from '../../../api/api-error.ts';
import { useChange } from '../../../api/use-api.ts';
import { ErrorNotice } from '../../../parts/error-notice.tsx';
import { showFieldError } from '../../../parts/form-errors.ts';
import { Money } from '../../../parts/money.tsx';
import { microsFromText, usdText } from '../../../parts/money-text.ts';
import { showDone } from '../../../parts/notify.ts';
import { newRequestId } from '../../../parts/request-id.ts';
import type { Account } from './page.tsx';

type Kind = 'credit' | 'debit';
type Props = {
  readonly account: Account;
  readonly mode: 'live' | 'test';
  /** null: closed. */
  readonly kind: Kind | null;
  readonly onClose: () => void;
};

export function AdjustDialog({ account, mode, kind, onClose }: Props) {
  return (
    <Modal
      opened={kind !== null}
      onClose={onClose}
      title={`${kind === 'debit' ? 'Debit' : 'Credit'} ${account.name}${mode === 'test' ? ' (test)' : ''}`}
    >
      {kind !== null && <AdjustForm account={account} mode={mode} kind={kind} onClose={onClose} />}
    </Modal>
  );
}

const invalidated = [
  'GET /operator/accounts/:account',
  'GET /operator/accounts/:account/statement',
  'GET /operator/accounts',
  'GET /operator/audit-log',
] as const;

function AdjustForm({ account, mode, kind, onClose }: Props & { readonly kind: Kind }) {
  const [isAsked, setAsked] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  // Of what is confirmed: sent twice, it is booked once.
  const [requestId, setRequestId] = useState(newRequestId);
  const adjust = useChange('POST /operator/accounts/:account/adjustments', { invalidates: invalidated });
  const form = useForm({
    initialValues: { amount: '', note: '' },
    validate: {
      amount: (text) =>
        (microsFromText(text) ?? 0) > 0 ? null : 'An amount in US dollars above zero, with at most six decimals.',
      note: (text) => (text.trim() === '' ? 'Say why: it stands in the account’s statement and in the audit log.' : null),
    },
  });
  const micros = microsFromText(form.values.amount) ?? 0;
  const after = account[mode].available_micros + (kind === 'credit' ? micros : -micros);
  const submit = async () => {
    if (!isAsked) {
      setRequestId(newRequestId());
      setAsked(true);
      return;
    }
    setError(null);
    try {
      const body = { request_id: requestId, kind, mode, amount_micros: micros, note: form.values.note.trim() };
      const done = await adjust.mutateAsync({ params: { account: account.id }, body });
      showDone(`${usdText(micros)} ${kind}ed. Available now: ${usdText(done.available_micros)}.`);
      onClose();
    } catch (thrown) {
      const general = showFieldError(form, thrown, { amount_micros: 'amount', note: 'note' });
      setError(general);
      if (!general) setAsked(false);
    }
  };
  return (
    <form onSubmit={form.onSubmit(() => void submit())} noValidate>
      <Stack>
        <TextInput
          label="Amount"
          description="USD"
          leftSection="$"
          inputMode="decimal"
          autoComplete="off"
          readOnly={isAsked}
          data-autofocus
          withAsterisk
          {...form.getInputProps('amount')}
        />
        <TextInput
          label="Reason"
          description="Its members read it in their statement."
          placeholder={kind === 'credit' ? 'Bank transfer of 22 November' : 'Refunded by bank transfer'}
          autoComplete="off"
          maxLength={500}
          readOnly={isAsked}
          withAsterisk
          {...form.getInputProps('note')}
        />
        {isAsked && (
          <Table withRowBorders={false} verticalSpacing={4} aria-label="The balance before and after">
            <Table.Tbody>
              <Table.Tr>
                <Table.Th>Available now</Table.Th>
                <Table.Td ta="right">
                  <Money micros={account[mode].available_micros} />
                </Table.Td>
              </Table.Tr>
              <Table.Tr>
                <Table.Th>After this {kind}</Table.Th>
                <Table.Td ta="right" fw={600}>
                  <Money micros={after} />
                </Table.Td>
              </Table.Tr>
            </Table.Tbody>
          </Table>
        )}
        {isAsked && after < 0 && (
          <Alert color="orange">The balance goes below zero: nothing that costs runs until it is above again.</Alert>
        )}
        {error && <ErrorNotice error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={isAsked ? () => setAsked(false) : onClose} disabled={adjust.isPending}>
            {isAsked ? 'Back' : 'Cancel'}
          </Button>
          <Button type="submit" color={kind === 'debit' && isAsked ? 'red' : undefined} loading={adjust.isPending}>
            {isAsked ? `${kind === 'credit' ? 'Credit' : 'Debit'} ${usdText(micros)}` : 'Continue'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
