// How much to pay in. Leads to Stripe.
import { Button, Chip, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { useChange } from '../../api/use-api.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { showFieldError } from '../../parts/form-errors.ts';
import { microsFromText, usdText } from '../../parts/money-text.ts';
import { newRequestId } from '../../parts/request-id.ts';
import type { Overview } from './page.tsx';
import { topUpProblem } from './top-up-amount.ts';

type Bounds = NonNullable<Overview['top_up']>;
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
  const [isLeaving, setLeaving] = useState(false);
  // The same for one amount, so that a second click opens no second checkout.
  const [requestIds] = useState(() => new Map<number, string>());
  const start = useChange('POST /accounts/:account/top-ups');
  const form = useForm({
    initialValues: { amount: usdText(bounds.choices_micros[0] ?? bounds.min_micros).slice(1) },
    validate: { amount: (text) => topUpProblem(text, bounds) },
  });
  const submit = async ({ amount }: { readonly amount: string }) => {
    const micros = microsFromText(amount)!;
    const requestId = requestIds.get(micros) ?? newRequestId();
    requestIds.set(micros, requestId);
    setError(null);
    try {
      const { checkout_url: url } = await start.mutateAsync({ body: { request_id: requestId, amount_micros: micros } });
      setLeaving(true);
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
            <Group gap="xs" role="radiogroup" aria-label="Amounts to choose from">
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
          autoComplete="off"
          data-autofocus
          {...form.getInputProps('amount')}
        />
        <Text size="sm" c="dimmed">
          You pay at Stripe and come back here. Card details never reach this service.
        </Text>
        {error && <ErrorNotice error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} disabled={start.isPending || isLeaving}>
            Cancel
          </Button>
          <Button type="submit" loading={start.isPending || isLeaving}>
            Continue to payment
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
