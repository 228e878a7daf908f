// Asks for the amount of a top-up, then opens Stripe's payment page.
import { Button, Chip, Group, Modal, Stack, Table, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import type { Output } from '../../api/client.ts';
import { useChange } from '../../api/use-api.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { showFieldError } from '../../parts/form-errors.ts';
import { microsFromText, usdText } from '../../parts/money-text.ts';
import { newIdempotencyId } from '../../parts/idempotency-id.ts';
import { feeMicros, topUpProblem } from './top-up-amount.ts';

type Bounds = NonNullable<Output<'GET /accounts/:account/billing'>['top_up']>;
type Props = { readonly opened: boolean; readonly bounds: Bounds; readonly onClose: () => void };

export function TopUpDialog({ opened, bounds, onClose }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title="Top up by card">
      <TopUpForm bounds={bounds} onClose={onClose} />
    </Modal>
  );
}

function TopUpForm({ bounds, onClose }: Omit<Props, 'opened'>) {
  const [error, setError] = useState<ApiError | null>(null);
  const [isRedirecting, setRedirecting] = useState(false);
  // One id per amount: a second click does not open a second checkout.
  const [idempotencyIds] = useState(() => new Map<number, string>());
  const start = useChange('POST /accounts/:account/top-ups');
  const form = useForm({
    initialValues: { amount: usdText(bounds.choices_micros[0] ?? bounds.min_micros).slice(1) },
    validate: { amount: (text) => topUpProblem(text, bounds) },
  });
  const submit = async ({ amount }: { readonly amount: string }) => {
    const micros = microsFromText(amount)!;
    const idempotencyId = idempotencyIds.get(micros) ?? newIdempotencyId();
    idempotencyIds.set(micros, idempotencyId);
    setError(null);
    try {
      const { checkout_url: url } = await start.mutateAsync({
        body: { request_id: idempotencyId, amount_micros: micros },
      });
      setRedirecting(true);
      window.location.assign(url);
    } catch (thrown) {
      setError(showFieldError(form, thrown, { amount_micros: 'amount' }));
    }
  };
  const chosen = microsFromText(form.values.amount);
  return (
    <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
      <Stack>
        {bounds.choices_micros.length > 0 && (
          <Chip.Group
            value={chosen === null ? '' : String(chosen)}
            onChange={(value) => form.setFieldValue('amount', usdText(Number(value)).slice(1))}
          >
            <Group gap="xs" role="radiogroup" aria-label="Suggested amounts">
              {bounds.choices_micros.map((micros) => (
                <Chip key={micros} value={String(micros)}>
                  {usdText(micros)}
                </Chip>
              ))}
            </Group>
          </Chip.Group>
        )}
        <TextInput
          label="Amount"
          description={`USD, from ${usdText(bounds.min_micros)} to ${usdText(bounds.max_micros)}`}
          leftSection="$"
          inputMode="decimal"
          data-autofocus
          {...form.getInputProps('amount')}
        />
        {chosen !== null && topUpProblem(form.values.amount, bounds) === null && (
          <Fee amount={chosen} fee={bounds.fee} />
        )}
        <Text size="sm" c="dimmed">
          You pay on Stripe’s site and then return here. This service never sees your card details.
        </Text>
        {error && <ErrorNotice error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} disabled={start.isPending || isRedirecting}>
            Cancel
          </Button>
          <Button type="submit" loading={start.isPending || isRedirecting}>
            Continue to payment
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Breaks the payment down into credit and card fee. */
function Fee({ amount, fee }: { readonly amount: number; readonly fee: Bounds['fee'] }) {
  const micros = feeMicros(amount, fee);
  if (micros === 0) return null;
  return (
    <Table withRowBorders={false} verticalSpacing={2} horizontalSpacing={0} aria-label="Payment">
      <Table.Tbody>
        <FeeRow label="Credit" micros={amount} />
        <FeeRow label="Card fee" micros={micros} />
      </Table.Tbody>
      <Table.Tfoot>
        <FeeRow label="You pay" micros={amount + micros} weight={600} />
      </Table.Tfoot>
    </Table>
  );
}

type FeeRowProps = { readonly label: string; readonly micros: number; readonly weight?: number };

function FeeRow({ label, micros, weight = 400 }: FeeRowProps) {
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={weight}>
        {label}
      </Table.Th>
      <Table.Td ta="right" fw={weight}>
        {usdText(micros)}
      </Table.Td>
    </Table.Tr>
  );
}
