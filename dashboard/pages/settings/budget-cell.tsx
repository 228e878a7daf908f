// A member's budget in the table of members, and the dialog in which owners set it.
import { Button, Modal, Text, TextInput, VisuallyHidden } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useIsAtLeast } from '../../api/account.ts';
import type { Output } from '../../api/client.ts';
import { useChange } from '../../api/use-api.ts';
import { changedFields } from '../../parts/changed-fields.ts';
import { microsFromText, shortUsdText, usdText } from '../../parts/money-text.ts';
import { showSuccess } from '../../parts/notify.ts';
import { SubmitForm } from '../../parts/submit-form.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';

type Budget = Output<'GET /accounts/:account/budgets'>['data'][number];

type Props = {
  readonly member: { readonly user_id: string; readonly name: string };
  /** Undefined: the member has none. */
  readonly budget: Budget | undefined;
};

export function BudgetCell({ member, budget }: Props) {
  const isOwner = useIsAtLeast('owner');
  const [isOpen, setOpen] = useState(false);
  const lines = [
    lineOf(budget?.today.spent_micros, budget?.daily_micros, 'today'),
    lineOf(budget?.this_month.spent_micros, budget?.monthly_micros, 'this month'),
  ].filter((line) => line !== null);
  return (
    <>
      {lines.map((line) => (
        <Text key={line} inherit>
          {line}
        </Text>
      ))}
      {lines.length === 0 && !isOwner && <Text inherit>None</Text>}
      {isOwner && (
        <Button variant="subtle" size="compact-sm" px={0} onClick={() => setOpen(true)}>
          {lines.length === 0 ? 'Set a budget' : 'Change'}
          <VisuallyHidden> of {member.name}</VisuallyHidden>
        </Button>
      )}
      <Modal opened={isOpen} onClose={() => setOpen(false)} title={`Budget of ${member.name}`}>
        <BudgetForm member={member} budget={budget} onClose={() => setOpen(false)} />
      </Modal>
    </>
  );
}

function lineOf(
  spent: number | undefined,
  most: number | null | undefined,
  when: string,
): string | null {
  if (most === null || most === undefined) return null;
  return `${shortUsdText(spent ?? 0)} of ${shortUsdText(most)} ${when}`;
}

function BudgetForm({ member, budget, onClose }: Props & { readonly onClose: () => void }) {
  const change = useChange('PATCH /accounts/:account/members/:user/budget', {
    invalidates: ['GET /accounts/:account/budgets'],
  });
  const [before] = useState({
    daily: textOf(budget?.daily_micros),
    monthly: textOf(budget?.monthly_micros),
  });
  const form = useForm({
    initialValues: before,
    validate: { daily: problemOf, monthly: problemOf },
  });
  const sending = useFormSubmit(
    form,
    async (values) => {
      const body = changedFields(bodyOf(before), bodyOf(values));
      await change.mutateAsync({ params: { user: member.user_id }, body });
      showSuccess(`Budget of ${member.name} saved. It applies within seconds.`);
      onClose();
    },
    { daily_micros: 'daily', monthly_micros: 'monthly' },
  );
  const field = {
    placeholder: 'No budget',
    leftSection: '$',
    inputMode: 'decimal',
    autoComplete: 'off',
  } as const;
  return (
    <SubmitForm sending={sending} submit="Save" onClose={onClose}>
      <Text size="sm" c="dimmed">
        All keys of {member.name} share it: those that {member.name} created, and those that you
        give away in their settings. Live keys and test keys count separately.
      </Text>
      <TextInput
        label="Daily budget"
        description="USD, resets at 00:00 UTC"
        data-autofocus
        {...field}
        {...form.getInputProps('daily')}
      />
      <TextInput
        label="Monthly budget"
        description="USD, resets on the 1st at 00:00 UTC"
        {...field}
        {...form.getInputProps('monthly')}
      />
    </SubmitForm>
  );
}

function textOf(micros: number | null | undefined): string {
  return micros === null || micros === undefined ? '' : usdText(micros).slice(1);
}

function bodyOf({ daily, monthly }: { readonly daily: string; readonly monthly: string }) {
  return { daily_micros: microsOf(daily), monthly_micros: microsOf(monthly) };
}

function microsOf(text: string): number | null {
  return text.trim() === '' ? null : microsFromText(text);
}

function problemOf(text: string): string | null {
  if (text.trim() === '' || microsFromText(text) !== null) return null;
  return 'Enter an amount in US dollars, such as 5 or 0.50, or leave the field empty.';
}
