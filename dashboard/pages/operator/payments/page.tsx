// Payments that were credited to nobody by themselves.
import { Badge, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconCreditCard } from '@tabler/icons-react';
import { useState } from 'react';
import type { ApiError } from '../../../api/api-error.ts';
import type { Output } from '../../../api/client.ts';
import { useApi, useChange } from '../../../api/use-api.ts';
import { DataTable, type Column } from '../../../parts/data-table.tsx';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { ErrorNotice } from '../../../parts/error-notice.tsx';
import { showFieldError } from '../../../parts/form-errors.ts';
import { AppLink } from '../../../parts/link.tsx';
import { foreignText } from '../../../parts/money-text.ts';
import { Money } from '../../../parts/money.tsx';
import { showDone } from '../../../parts/notify.ts';
import { PageHeader } from '../../../parts/page-header.tsx';
import { Panel } from '../../../parts/panel.tsx';
import { TimeAgo } from '../../../parts/time-ago.tsx';

type Payment = Output<'GET /operator/payments'>['data'][number];
type Asked = { readonly payment: Payment; readonly decision: 'assign' | 'dismiss' };

const problems: Readonly<Record<NonNullable<Payment['problem']>, string>> = {
  'unknown-account': 'Nobody here asked for it',
  'wrong-amount': 'Another amount than asked for',
  'wrong-currency': 'Not in US dollars',
};

export function Page() {
  const payments = useApi('GET /operator/payments', {});
  const [asked, setAsked] = useState<Asked | null>(null);
  const isConfigured = payments.data?.is_configured ?? true;
  return (
    <>
      <PageHeader
        title="Payments"
        description="Paid at Stripe, and credited to nobody by itself. Give each to its account, or dismiss it."
      />
      <Panel flush>
        <DataTable
          label="Payments without an account"
          rows={payments.data?.data}
          error={payments.error}
          onRetry={() => void payments.refetch()}
          columns={[...columns, decisionColumn(setAsked)]}
          rowKey={(payment) => payment.id}
          empty={
            <EmptyState
              icon={IconCreditCard}
              title={isConfigured ? 'Every payment found its account' : 'Stripe is not configured'}
              text={
                isConfigured
                  ? 'Payments that do not agree with what was asked for would stand here.'
                  : 'With a stripe section in the configuration, owners top up by card; docs/billing.md says how.'
              }
            />
          }
        />
      </Panel>
      <Modal
        opened={asked !== null}
        onClose={() => setAsked(null)}
        title={asked?.decision === 'assign' ? 'Credit an account' : 'Dismiss the payment'}
      >
        {asked && <DecisionForm {...asked} onClose={() => setAsked(null)} />}
      </Modal>
    </>
  );
}

const columns: readonly Column<Payment>[] = [
  {
    title: 'Payment',
    phone: 'title',
    render: (payment) => (
      <>
        <Text fw={500}>
          <Amount payment={payment} />
        </Text>
        <Text size="xs" c="dimmed" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
          {payment.id}
        </Text>
      </>
    ),
  },
  { title: 'Paid', render: (payment) => <TimeAgo at={payment.paid_at} /> },
  { title: 'Why', render: (payment) => payment.problem && problems[payment.problem] },
  {
    title: 'Account',
    render: (payment) =>
      payment.account_id === null ? (
        <Text c="dimmed">–</Text>
      ) : (
        <AppLink to="/operator/accounts/$accountId" params={{ accountId: payment.account_id }} size="sm">
          {payment.account_id}
        </AppLink>
      ),
  },
];

function decisionColumn(onAsk: (asked: Asked) => void): Column<Payment> {
  return {
    title: '',
    align: 'right',
    render: (payment) =>
      payment.decision === null ? (
        <Group gap="xs" justify="flex-end" wrap="nowrap">
          {payment.currency === 'usd' && (
            <Button size="xs" onClick={() => onAsk({ payment, decision: 'assign' })}>
              Credit…
            </Button>
          )}
          <Button size="xs" variant="default" onClick={() => onAsk({ payment, decision: 'dismiss' })}>
            Dismiss…
          </Button>
        </Group>
      ) : (
        <>
          <Badge color={payment.decision === 'assigned' ? 'green' : 'gray'}>
            {payment.decision === 'assigned' ? 'Credited' : 'Dismissed'}
          </Badge>
          <Text size="xs" c="dimmed">
            {payment.note}
          </Text>
        </>
      ),
  };
}

function Amount({ payment }: { readonly payment: Payment }) {
  const { currency, amount_micros: micros } = payment;
  return currency === null || currency === 'usd' || micros === null ? <Money micros={micros} /> : foreignText(micros, currency);
}

function DecisionForm({ payment, decision, onClose }: Asked & { readonly onClose: () => void }) {
  const isAssigning = decision === 'assign';
  const [error, setError] = useState<ApiError | null>(null);
  const invalidates = ['GET /operator/payments', 'GET /operator/audit-log', 'GET /operator/accounts'] as const;
  const assign = useChange('POST /operator/payments/:payment/assign', { invalidates });
  const dismiss = useChange('POST /operator/payments/:payment/dismiss', { invalidates });
  const form = useForm({
    initialValues: { account: payment.account_id ?? '', note: '' },
    validate: {
      account: (text) => (isAssigning && text.trim() === '' ? 'The id of an account.' : null),
      note: (text) => (text.trim() === '' ? 'Say why: it stands in the audit log.' : null),
    },
  });
  const submit = async (values: { readonly account: string; readonly note: string }) => {
    const params = { payment: payment.id };
    const note = values.note.trim();
    setError(null);
    try {
      if (isAssigning) await assign.mutateAsync({ params, body: { account: values.account.trim(), note } });
      else await dismiss.mutateAsync({ params, body: { note } });
      showDone(isAssigning ? 'The account is credited.' : 'The payment is dismissed.');
      onClose();
    } catch (thrown) {
      setError(showFieldError(form, thrown, { account: 'account', note: 'note' }));
    }
  };
  const isPending = assign.isPending || dismiss.isPending;
  return (
    <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
      <Stack>
        <Text>
          {isAssigning ? (
            <>
              <Amount payment={payment} /> are credited, less what was refunded or disputed since.
            </>
          ) : (
            'Nothing is credited, now or later. Refund it at Stripe if it should go back.'
          )}
        </Text>
        {isAssigning && (
          <TextInput
            label="Account id"
            placeholder="acc_…"
            autoComplete="off"
            withAsterisk
            data-autofocus
            {...form.getInputProps('account')}
          />
        )}
        <TextInput
          label="Reason"
          maxLength={500}
          autoComplete="off"
          withAsterisk
          data-autofocus={!isAssigning || undefined}
          {...form.getInputProps('note')}
        />
        {error && <ErrorNotice error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} disabled={isPending}>
            Cancel
          </Button>
          <Button type="submit" color={isAssigning ? undefined : 'red'} loading={isPending}>
            {isAssigning ? 'Credit the account' : 'Dismiss'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
