// The saved card and when it is charged. The card is entered at Stripe.
import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconCreditCard } from '@tabler/icons-react';
import { useState } from 'react';
import { useIsAtLeast } from '../../api/account.ts';
import type { Output } from '../../api/client.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { type AutoTopUp, AutoTopUpFacts, cardText } from '../../parts/auto-top-up-facts.tsx';
import { confirm } from '../../parts/confirm.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { microsFromText, usdText } from '../../parts/money-text.ts';
import { showError, showSuccess } from '../../parts/notify.ts';
import { Panel } from '../../parts/panel.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { useUrlState } from '../../parts/url-state.ts';
import { useFormSubmit } from '../../parts/use-form-submit.ts';
import { feeMicros, topUpProblem } from './top-up-amount.ts';

type Bounds = NonNullable<Output<'GET /accounts/:account/billing'>['top_up']>;
type Props = { readonly bounds: Bounds };

const invalidates = ['GET /accounts/:account/auto-top-up'] as const;
/** Stripe tells the gateway of the card a moment before or after the customer is back. */
const refetchMs = 2_000;

export function AutoTopUpPanel({ bounds }: Props) {
  const isOwner = useIsAtLeast('owner');
  const [isBack] = useUrlState(({ card }) => card === 'saved');
  const options = isBack ? { refetchMs } : {};
  const autoTopUp = useApi('GET /accounts/:account/auto-top-up', {}, options);
  return (
    <Panel
      title="Automatic top-up"
      description="A saved card is charged when the available live balance is low. A charge that fails is told to the owners, and not repeated."
    >
      <QueryView query={autoTopUp}>
        {(data) => (
          <Stack>
            <AutoTopUpFacts
              autoTopUp={data}
              remedy={isOwner ? 'you save a card or turn it on again' : 'an owner acts'}
            />
            {isOwner && data.card && <SettingsForm key={keyOf(data)} data={data} bounds={bounds} />}
            {isOwner && <CardButtons card={data.card} />}
          </Stack>
        )}
      </QueryView>
    </Panel>
  );
}

function keyOf({ settings, paused }: AutoTopUp): string {
  return JSON.stringify([settings, paused]);
}

function CardButtons({ card }: Pick<AutoTopUp, 'card'>) {
  const path = '/accounts/:account/auto-top-up/card' as const;
  const [isLeaving, setLeaving] = useState(false);
  const save = useChange(`POST ${path}`);
  const remove = useChange(`DELETE ${path}`, { invalidates });
  const leave = async () => {
    try {
      const { checkout_url: url } = await save.mutateAsync({ body: {} });
      setLeaving(true);
      window.location.assign(url);
    } catch (error) {
      showError(error);
    }
  };
  const askToRemove = () =>
    confirm({
      title: `Remove ${card ? cardText(card) : 'the card'}?`,
      text: 'Automatic top-ups are turned off. Stripe forgets the card.',
      action: 'Remove',
      danger: true,
      run: () => remove.mutateAsync({}),
      done: 'Card removed. It is not charged any more.',
    });
  return (
    <Group gap="sm">
      <Button
        variant="default"
        leftSection={<IconCreditCard size={16} aria-hidden />}
        loading={save.isPending || isLeaving}
        onClick={() => void leave()}
      >
        {card ? 'Replace the card' : 'Save a card'}
      </Button>
      {card && (
        <Button variant="default" onClick={askToRemove}>
          Remove the card…
        </Button>
      )}
      <Text size="sm" c="dimmed">
        You enter it on Stripe’s site. This service never sees its number.
      </Text>
    </Group>
  );
}

const fields: Readonly<Record<string, string>> = {
  threshold_micros: 'threshold',
  amount_micros: 'topUp',
  ceiling_micros: 'ceiling',
};

type FormProps = Props & { readonly data: AutoTopUp };

function SettingsForm({ data, bounds }: FormProps) {
  const change = useChange('PATCH /accounts/:account/auto-top-up', { invalidates });
  const { settings, paused } = data;
  const amount = bounds.choices_micros[0] ?? bounds.min_micros;
  const form = useForm({
    initialValues: {
      threshold: textOf(settings?.threshold_micros ?? bounds.min_micros),
      topUp: textOf(settings?.amount_micros ?? amount),
      ceiling: textOf(settings?.ceiling_micros ?? 4 * oneOf(amount, bounds)),
    },
    validate: {
      threshold: (text) => (microsFromText(text) ? null : 'Enter an amount above zero.'),
      topUp: (text) => topUpProblem(text, bounds),
      ceiling: (text, { topUp }) => {
        const one = oneOf(microsFromText(topUp) ?? 0, bounds);
        return (microsFromText(text) ?? 0) >= one ? null : `Enter at least ${usdText(one)}.`;
      },
    },
  });
  const { onSubmit, error, isSubmitting } = useFormSubmit(
    form,
    async ({ threshold, topUp, ceiling }) => {
      const entered = {
        threshold_micros: microsFromText(threshold)!,
        amount_micros: microsFromText(topUp)!,
        ceiling_micros: microsFromText(ceiling)!,
      };
      await change.mutateAsync({ body: { settings: entered } });
      showSuccess('Automatic top-ups are on.');
    },
    (param) => fields[param.split('.').at(-1)!],
  );
  const turnOff = () =>
    void change
      .mutateAsync({ body: { settings: null } })
      .then(() => showSuccess('Automatic top-ups are off.'))
      .catch(showError);
  const field = { leftSection: '$', inputMode: 'decimal', autoComplete: 'off', w: 180 } as const;
  const chosen = microsFromText(form.values.topUp);
  const isUnchanged = settings !== null && paused === null && !form.isDirty();
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack gap="sm">
        <Group align="flex-start" gap="sm">
          <TextInput label="When below" {...field} {...form.getInputProps('threshold')} />
          <TextInput label="Top up by" {...field} {...form.getInputProps('topUp')} />
          <TextInput label="At most in a month" {...field} {...form.getInputProps('ceiling')} />
        </Group>
        {chosen !== null && oneOf(chosen, bounds) > chosen && (
          <Text size="sm" c="dimmed">
            Each time, {usdText(oneOf(chosen, bounds))} is charged, with the card fee.
          </Text>
        )}
        <Group gap="sm">
          <Button type="submit" loading={isSubmitting} disabled={isUnchanged}>
            {settings && !paused ? 'Save' : 'Turn on'}
          </Button>
          {settings && (
            <Button variant="default" onClick={turnOff} disabled={isSubmitting}>
              Turn off
            </Button>
          )}
        </Group>
        {error && <ErrorNotice error={error} />}
      </Stack>
    </form>
  );
}

/** A top-up with its fee. */
function oneOf(amount: number, { fee }: Bounds): number {
  return amount + feeMicros(amount, fee);
}

function textOf(micros: number): string {
  return usdText(micros).slice(1);
}
