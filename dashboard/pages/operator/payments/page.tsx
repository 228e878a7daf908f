// Payments by card: those that could not be credited automatically, and all.
import {
  Anchor,
  Badge,
  Button,
  Code,
  Group,
  Modal,
  Stack,
  Text,
  TextInput,
  Tabs,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconCreditCard } from '@tabler/icons-react';
import { useState } from 'react';
import type { Output } from '../../../api/client.ts';
import { useSession } from '../../../api/session.ts';
import { useApiPages, useChange } from '../../../api/use-api.ts';
import { CutText } from '../../../parts/cut-text.tsx';
import { DataTable, type Column } from '../../../parts/data-table.tsx';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { AppLink } from '../../../parts/link.tsx';
import { foreignText } from '../../../parts/money-text.ts';
import { Money } from '../../../parts/money.tsx';
import { showSuccess } from '../../../parts/notify.ts';
import { PageHeader } from '../../../parts/page-header.tsx';
import { Panel } from '../../../parts/panel.tsx';
import { SearchField } from '../../../parts/search-field.tsx';
import { useUrlState } from '../../../parts/url-state.ts';
import { SubmitForm } from '../../../parts/submit-form.tsx';
import { useFormSubmit } from '../../../parts/use-form-submit.ts';

type Payment = Output<'GET /operator/payments'>['data'][number];
/** A decision that waits for the operator's confirmation. */
type PendingDecision = { readonly payment: Payment; readonly decision: 'assign' | 'dismiss' };

const problems: Readonly<Record<NonNullable<Payment['problem']>, string>> = {
  'unknown-account': 'No matching top-up',
  'wrong-amount': 'Amount differs from the top-up',
  'wrong-currency': 'Not in US dollars',
};

export function Page() {
  const [tab, setState] = useUrlState((search) => (search.tab === 'all' ? 'all' : 'unmatched'));
  return (
    <>
      <PageHeader title="Payments" description="Stripe’s payments for top-ups by card." />
      <Tabs
        value={tab}
        onChange={(next) => setState({ tab: next === 'all' ? next : undefined, q: undefined })}
        keepMounted={false}
      >
        <Tabs.List aria-label="Payments" mb="md">
          <Tabs.Tab value="unmatched">Unmatched</Tabs.Tab>
          <Tabs.Tab value="all">All payments</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="unmatched">
          <Unmatched />
        </Tabs.Panel>
        <Tabs.Panel value="all">
          <AllPayments />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

function AllPayments() {
  const [search, setState] = useUrlState(({ q = '' }) => q);
  const pages = useApiPages('GET /operator/payments', { query: { search } });
  return (
    <Stack>
      <SearchField
        label="Search by account or ID"
        value={search}
        onSearch={(text) => setState({ q: text.trim() })}
        maw={360}
      />
      <Panel flush>
        <DataTable
          label="All payments"
          pages={pages}
          columns={allColumns}
          rowKey={(payment) => payment.id}
          empty={
            <EmptyState
              icon={IconCreditCard}
              title={search === '' ? 'No payments yet' : 'No matching payments'}
            />
          }
        />
      </Panel>
    </Stack>
  );
}

/** Could not be credited automatically: an operator credits each to an account, or dismisses it. */
function Unmatched() {
  const pages = useApiPages('GET /operator/payments', { query: { waiting: true } });
  const [pending, setPending] = useState<PendingDecision | null>(null);
  const { stripe: isConfigured } = useSession().features;
  return (
    <>
      <Panel flush>
        <DataTable
          label="Unmatched payments"
          pages={pages}
          columns={[...columns, decisionColumn(setPending)]}
          rowKey={(payment) => payment.id}
          empty={
            <EmptyState
              icon={IconCreditCard}
              title={isConfigured ? 'No unmatched payments' : 'Stripe is not configured'}
              text={
                isConfigured ? (
                  'Payments that match no top-up appear here.'
                ) : (
                  <>
                    Add a <Code>stripe</Code> section to the configuration so that owners can top up
                    by card: <Anchor href="/docs/billing">how to</Anchor>.
                  </>
                )
              }
            />
          }
        />
      </Panel>
      <Modal
        opened={pending !== null}
        onClose={() => setPending(null)}
        title={pending?.decision === 'assign' ? 'Credit an account' : 'Dismiss the payment'}
      >
        {pending && <DecisionForm {...pending} onClose={() => setPending(null)} />}
      </Modal>
    </>
  );
}

const accountColumn: Column<Payment> = {
  title: 'Account',
  render: ({ account_id: id, account_name: name }) =>
    id === null ? (
      <Text c="dimmed">–</Text>
    ) : (
      <AppLink to="/operator/accounts/$accountId" params={{ accountId: id }}>
        {name || id}
      </AppLink>
    ),
};

const columns: readonly Column<Payment>[] = [
  {
    title: 'Payment',
    value: (payment) => payment.amount_micros,
    phone: 'title',
    render: (payment) => (
      <>
        <Text fw={500}>
          <Amount payment={payment} />
        </Text>
        <CutText block size="xs" c="dimmed" ff="monospace" text={payment.id} />
      </>
    ),
  },
  { title: 'Paid', kind: 'ago', value: (payment) => payment.paid_at },
  { title: 'Problem', value: (payment) => payment.problem && problems[payment.problem] },
  accountColumn,
];

const allColumns: readonly Column<Payment>[] = [
  columns[0]!,
  columns[1]!,
  accountColumn,
  {
    title: 'Fee',
    align: 'right',
    phone: 'hidden',
    render: ({ fee_micros: micros }) => <Money micros={micros} c="dimmed" />,
  },
  {
    title: 'Returned',
    align: 'right',
    render: ({ returned_micros: micros }) =>
      micros === 0 ? '–' : <Money micros={micros} c="red" />,
  },
  {
    title: 'State',
    render: ({ problem, decision, note }) => (
      <>
        {problem === null || decision === 'assigned' ? (
          <Badge color="green">Credited</Badge>
        ) : (
          <Badge color={decision === null ? 'orange' : 'gray'}>
            {decision === null ? 'Unmatched' : 'Dismissed'}
          </Badge>
        )}
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      </>
    ),
  },
];

function decisionColumn(onDecide: (pending: PendingDecision) => void): Column<Payment> {
  return {
    title: '',
    render: (payment) => (
      <Group gap="xs" justify="flex-end">
        {payment.currency === 'usd' && (
          <Button size="xs" onClick={() => onDecide({ payment, decision: 'assign' })}>
            Credit…
          </Button>
        )}
        <Button
          size="xs"
          variant="default"
          onClick={() => onDecide({ payment, decision: 'dismiss' })}
        >
          Dismiss…
        </Button>
      </Group>
    ),
  };
}

function Amount({ payment }: { readonly payment: Payment }) {
  const { currency, amount_micros: micros } = payment;
  return currency === null || currency === 'usd' || micros === null ? (
    <Money micros={micros} />
  ) : (
    foreignText(micros, currency)
  );
}

function DecisionForm({
  payment,
  decision,
  onClose,
}: PendingDecision & { readonly onClose: () => void }) {
  const isAssigning = decision === 'assign';
  const decide = useChange('POST /operator/payments/:payment/decision', {
    invalidates: ['GET /operator/payments', 'GET /operator/audit-log', 'GET /operator/accounts'],
  });
  const form = useForm({
    initialValues: { account: payment.account_id ?? '', note: '' },
    validate: {
      account: (text) => (isAssigning && text.trim() === '' ? 'Enter an account ID.' : null),
      note: (text) => (text.trim() === '' ? 'Give a reason. It appears in the audit log.' : null),
    },
  });
  const sending = useFormSubmit(
    form,
    async ({ account, note }) => {
      await decide.mutateAsync({
        params: { payment: payment.id },
        body: { account: isAssigning ? account.trim() : null, note: note.trim() },
      });
      showSuccess(isAssigning ? 'Account credited.' : 'Payment dismissed.');
      onClose();
    },
    { account: 'account', note: 'note' },
  );
  return (
    <SubmitForm
      sending={sending}
      submit={isAssigning ? 'Credit the account' : 'Dismiss'}
      button={{ color: isAssigning ? undefined : 'red' }}
      onClose={onClose}
    >
      <Text>
        {isAssigning ? (
          <>
            The account is credited with <Amount payment={payment} />, minus refunds and disputes.
          </>
        ) : (
          'The payment will not be credited. To return the money, refund it in Stripe.'
        )}
      </Text>
      {isAssigning && (
        <TextInput
          label="Account ID"
          placeholder="acc_…"
          withAsterisk
          data-autofocus
          {...form.getInputProps('account')}
        />
      )}
      <TextInput
        label="Reason"
        maxLength={500}
        withAsterisk
        data-autofocus={!isAssigning || undefined}
        {...form.getInputProps('note')}
      />
    </SubmitForm>
  );
}
