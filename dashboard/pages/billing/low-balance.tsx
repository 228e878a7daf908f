// The balance below which owners get a warning by e-mail.
import { Button, Group, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useIsAtLeast } from '../../api/account.ts';
import type { Output } from '../../api/client.ts';
import { useChange } from '../../api/use-api.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { Money } from '../../parts/money.tsx';
import { microsFromText, usdText } from '../../parts/money-text.ts';
import { showSuccess } from '../../parts/notify.ts';
import { Panel } from '../../parts/panel.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';

type Props = { readonly overview: Output<'GET /accounts/:account/billing'> };

export function LowBalance({ overview }: Props) {
  const isOwner = useIsAtLeast('owner');
  const { threshold_micros: threshold, can_mail: canMail } = overview.low_balance;
  if (!canMail && threshold === null) return null;
  return (
    <Panel
      title="Low-balance warning"
      description={
        canMail
          ? 'Owners get one e-mail when the live balance falls below this amount.'
          : 'This service has no mail server, so it cannot send warnings.'
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
  const change = useChange('PATCH /accounts/:account/low-balance', {
    invalidates: ['GET /accounts/:account/billing'],
  });
  const form = useForm({
    initialValues: { threshold: textOf(threshold) },
    validate: {
      threshold: (text) => {
        if (text.trim() === '') return null;
        const micros = microsFromText(text);
        return micros === null || micros === 0
          ? 'Enter an amount above zero in US dollars, or leave the field empty.'
          : null;
      },
    },
  });
  const { onSubmit, error, isSubmitting } = useFormSubmit(
    form,
    async (values) => {
      const micros = values.threshold.trim() === '' ? null : microsFromText(values.threshold);
      await change.mutateAsync({ body: { threshold_micros: micros } });
      form.setValues({ threshold: textOf(micros) });
      form.resetDirty({ threshold: textOf(micros) });
      showSuccess(
        micros === null
          ? 'Low-balance warnings are off.'
          : `Owners will be warned below ${usdText(micros)}.`,
      );
    },
    { threshold_micros: 'threshold' },
  );
  return (
    <form onSubmit={onSubmit} noValidate>
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
        <Button type="submit" variant="default" loading={isSubmitting} disabled={!form.isDirty()}>
          Save
        </Button>
      </Group>
      {error && <ErrorNotice error={error} />}
    </form>
  );
}
