// A manual credit or debit. Asks for amount and reason, then shows the new balance before booking.
import { Alert, Button, Group, Modal, Stack, Table, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import type { Mode } from '../../../api/account.ts';
import type { ApiError } from '../../../api/api-error.ts';
import type { Output } from '../../../api/client.ts';
import { useChange } from '../../../api/use-api.ts';
import { ErrorNotice } from '../../../parts/error-notice.tsx';
import { showFieldError } from '../../../parts/form-errors.ts';
import { Money } from '../../../parts/money.tsx';
import { microsFromText, usdText } from '../../../parts/money-text.ts';
import { showSuccess } from '../../../parts/notify.ts';
import { newIdempotencyId } from '../../../parts/idempotency-id.ts';

type Account = Output<'GET /operator/accounts/:account'>;

type Kind = 'credit' | 'debit';
type Props = {
  readonly account: Account;
  readonly mode: Mode;
  /** Null closes the dialog. */
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
  const [isConfirming, setConfirming] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  // One id per confirmation: sent twice, it is booked once.
  const [idempotencyId, setIdempotencyId] = useState(newIdempotencyId);
  const adjust = useChange('POST /operator/accounts/:account/adjustments', {
    invalidates: invalidated,
  });
  const form = useForm({
    initialValues: { amount: '', note: '' },
    validate: {
      amount: (text) =>
        (microsFromText(text) ?? 0) > 0
          ? null
          : 'Enter an amount above zero in US dollars, with at most six decimals.',
      note: (text) =>
        text.trim() === ''
          ? 'Give a reason. It appears in the account’s statement and in the audit log.'
          : null,
    },
  });
  const micros = microsFromText(form.values.amount) ?? 0;
  const after = account[mode].available_micros + (kind === 'credit' ? micros : -micros);
  const submit = async () => {
    if (!isConfirming) {
      setIdempotencyId(newIdempotencyId());
      setConfirming(true);
      return;
    }
    setError(null);
    try {
      const body = {
        request_id: idempotencyId,
        kind,
        mode,
        amount_micros: micros,
        note: form.values.note.trim(),
      };
      const done = await adjust.mutateAsync({ params: { account: account.id }, body });
      showSuccess(
        `${usdText(micros)} ${kind}ed. Available now: ${usdText(done.available_micros)}.`,
      );
      onClose();
    } catch (thrown) {
      const general = showFieldError(form, thrown, { amount_micros: 'amount', note: 'note' });
      setError(general);
      if (!general) setConfirming(false);
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
          readOnly={isConfirming}
          data-autofocus
          withAsterisk
          {...form.getInputProps('amount')}
        />
        <TextInput
          label="Reason"
          description="Members see it in their statement."
          placeholder={
            kind === 'credit' ? 'Bank transfer of 22 November' : 'Refunded by bank transfer'
          }
          maxLength={500}
          readOnly={isConfirming}
          withAsterisk
          {...form.getInputProps('note')}
        />
        {isConfirming && (
          <Table withRowBorders={false} verticalSpacing={4} aria-label="Balance before and after">
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
        {isConfirming && after < 0 && (
          <Alert color="orange">
            The balance will be below zero. Paid requests are refused until it is above zero again.
          </Alert>
        )}
        {error && <ErrorNotice error={error} />}
        <Group justify="flex-end">
          <Button
            variant="default"
            onClick={isConfirming ? () => setConfirming(false) : onClose}
            disabled={adjust.isPending}
          >
            {isConfirming ? 'Back' : 'Cancel'}
          </Button>
          <Button
            type="submit"
            color={kind === 'debit' && isConfirming ? 'red' : undefined}
            loading={adjust.isPending}
          >
            {isConfirming
              ? `${kind === 'credit' ? 'Credit' : 'Debit'} ${usdText(micros)}`
              : 'Continue'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
