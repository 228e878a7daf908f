// The balances below which owners are warned, by e-mail and by the endpoints of their alerts.
import { Button, Group, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useIsAtLeast } from '../../api/account.ts';
import type { Output } from '../../api/client.ts';
import { useChange } from '../../api/use-api.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { microsFromText, usdText } from '../../parts/money-text.ts';
import { showSuccess } from '../../parts/notify.ts';
import { Panel } from '../../parts/panel.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';

type Props = { readonly overview: Output<'GET /accounts/:account/billing'> };

export function LowBalance({ overview }: Props) {
  const isOwner = useIsAtLeast('owner');
  const { thresholds_micros: thresholds, can_mail: canMail } = overview.low_balance;
  return (
    <Panel
      title="Low-balance warnings"
      description={`${
        canMail
          ? 'Owners get one e-mail each time the live balance falls below one of these amounts.'
          : 'This service has no mail server.'
      }${isOwner ? ' The page Alerts has other ways.' : ''}`}
    >
      {isOwner ? (
        <ThresholdForm thresholds={thresholds} />
      ) : (
        <Text>{thresholds.length === 0 ? 'No warning is set.' : inWords(thresholds)}</Text>
      )}
    </Panel>
  );
}

const amountsMax = 5;

function inWords(thresholds: readonly number[]): string {
  return thresholds.map((threshold) => usdText(threshold)).join(', ');
}

function textOf(thresholds: readonly number[]): string {
  return thresholds.map((threshold) => usdText(threshold).slice(1)).join(' ');
}

/** Returns null when a part of the text is no amount above zero. */
function readAmounts(text: string): readonly number[] | null {
  const parts = text.split(/[\s;]+/).filter((part) => part !== '');
  const amounts = parts.map((part) => microsFromText(part) ?? 0);
  return amounts.includes(0) ? null : [...new Set(amounts)];
}

function ThresholdForm({ thresholds }: { readonly thresholds: readonly number[] }) {
  const change = useChange('PATCH /accounts/:account/low-balance', {
    invalidates: ['GET /accounts/:account/billing'],
  });
  const form = useForm({
    initialValues: { thresholds: textOf(thresholds) },
    validate: {
      thresholds: (text) => {
        const amounts = readAmounts(text);
        if (amounts === null) return 'Enter amounts above zero in US dollars, such as 50 20 5.';
        return amounts.length > amountsMax ? `Enter at most ${amountsMax} amounts.` : null;
      },
    },
  });
  const { onSubmit, error, isSubmitting } = useFormSubmit(
    form,
    async (values) => {
      const amounts = [...readAmounts(values.thresholds)!].toSorted((one, other) => one - other);
      await change.mutateAsync({ body: { thresholds_micros: amounts } });
      form.setValues({ thresholds: textOf(amounts) });
      form.resetDirty({ thresholds: textOf(amounts) });
      showSuccess(
        amounts.length === 0
          ? 'Low-balance warnings are off.'
          : `Owners will be warned below ${inWords(amounts)}.`,
      );
    },
    { thresholds_micros: 'thresholds' },
  );
  return (
    <form onSubmit={onSubmit} noValidate>
      <Group align="flex-start" gap="sm">
        <TextInput
          aria-label="Warn below, in USD"
          placeholder="No warning; several: 50 20 5"
          leftSection="$"
          inputMode="decimal"
          w={260}
          {...form.getInputProps('thresholds')}
        />
        <Button type="submit" variant="default" loading={isSubmitting} disabled={!form.isDirty()}>
          Save
        </Button>
      </Group>
      {error && <ErrorNotice error={error} />}
    </form>
  );
}
