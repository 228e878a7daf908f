// When owners want to be told that the balance is low.
import { Button, Group, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useIsAtLeast } from '../../app/account.ts';
import type { ApiError } from '../../api/api-error.ts';
import { useChange } from '../../api/use-api.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { showFieldError } from '../../parts/form-errors.ts';
import { Money } from '../../parts/money.tsx';
import { microsFromText, usdText } from '../../parts/money-text.ts';
import { showDone } from '../../parts/notify.ts';
import { Panel } from '../../parts/panel.tsx';
import type { Overview } from './page.tsx';

type Props = { readonly overview: Overview };

export function LowBalance({ overview }: Props) {
  const isOwner = useIsAtLeast('owner');
  const { threshold_micros: threshold, can_mail: canMail } = overview.low_balance;
  if (!canMail && threshold === null) return null;
  return (
    <Panel
      title="Low balance"
      description={
        canMail
          ? 'All owners get one e-mail when the live balance goes below this amount.'
          : 'No e-mail can be sent at the moment: this service has no mail server.'
      }
    >
      {isOwner ? (
        <ThresholdForm threshold={threshold} />
      ) : (
        <Text>{threshold === null ? 'No warning is set.' : <Money micros={threshold} />}</Text>
      )}
    </Panel>
  );
}

function textOf(threshold: number | null): string {
  return threshold === null ? '' : usdText(threshold).slice(1);
}

function ThresholdForm({ threshold }: { readonly threshold: number | null }) {
  const [error, setError] = useState<ApiError | null>(null);
  const change = useChange('PATCH /accounts/:account/low-balance', { invalidates: ['GET /accounts/:account/billing'] });
  const form = useForm({
    initialValues: { threshold: textOf(threshold) },
    validate: {
      threshold: (text) => {
        if (text.trim() === '') return null;
        const micros = microsFromText(text);
        return micros === null || micros === 0 ? 'Enter an amount in US dollars above zero, or leave it empty.' : null;
      },
    },
  });
  const submit = async (values: { readonly threshold: string }) => {
    const micros = values.threshold.trim() === '' ? null : microsFromText(values.threshold);
    setError(null);
    try {
      await change.mutateAsync({ body: { threshold_micros: micros } });
      form.setValues({ threshold: textOf(micros) });
      form.resetDirty({ threshold: textOf(micros) });
      showDone(micros === null ? 'Owners are not warned any more.' : `Owners are warned below ${usdText(micros)}.`);
    } catch (thrown) {
      setError(showFieldError(form, thrown, { threshold_micros: 'threshold' }));
    }
  };
  return (
    <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
      <Group align="flex-start" gap="sm">
        <TextInput
          aria-label="Warn below, in USD"
          placeholder="No warning"
          leftSection="$"
          inputMode="decimal"
          autoComplete="off"
          maw={220}
          {...form.getInputProps('threshold')}
        />
        <Button type="submit" variant="default" loading={change.isPending} disabled={!form.isDirty()}>
          Save
        </Button>
      </Group>
      {error && <ErrorNotice error={error} />}
    </form>
  );
}
