// The fields of a key, for creating and changing it.
import {
  Alert,
  Checkbox,
  type CheckboxGroupProps,
  Fieldset,
  Group,
  SimpleGrid,
  Stack,
  Switch,
  TextInput,
} from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useServiceName } from '../../api/session.ts';
import { useApi } from '../../api/use-api.ts';
import { ExpiryField } from '../../parts/expiry-field.tsx';
import { AddressesField, LimitFields } from '../../parts/limit-fields.tsx';
import { microsFromText } from '../../parts/money-text.ts';
import { countText } from '../../parts/number-text.ts';
import { KeepBodiesField } from './keep-bodies-field.tsx';
import type { KeyValues } from './key-values.ts';
import { ModelPicker } from './model-picker.tsx';

type Props = {
  readonly form: UseFormReturnType<KeyValues>;
  readonly readOnly?: boolean;
};

export function KeyFields({ form, readOnly = false }: Props) {
  const defaults = useApi('GET /accounts/:account/key-defaults', {}).data;
  const limit = (value: number | null | undefined) =>
    value === undefined ? '' : value === null ? 'No limit' : `${countText(value)} (default)`;
  const service = useServiceName();
  const { dailyCap, monthlyCap } = form.values;
  return (
    <Fieldset variant="unstyled" disabled={readOnly} p={0} m={0}>
      <Stack gap="lg">
        <TextInput
          label="Name"
          placeholder="Production backend"
          description="The program or person that uses this key."
          maxLength={200}
          data-autofocus
          withAsterisk={!readOnly}
          {...form.getInputProps('name')}
        />
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
          <TextInput
            label="Daily cap"
            description="USD, resets at 00:00 UTC"
            placeholder="No cap"
            leftSection="$"
            inputMode="decimal"
            {...form.getInputProps('dailyCap')}
          />
          <TextInput
            label="Monthly cap"
            description="USD, resets on the 1st at 00:00 UTC"
            placeholder="No cap"
            leftSection="$"
            inputMode="decimal"
            {...form.getInputProps('monthlyCap')}
          />
        </SimpleGrid>
        <CapNote dailyCap={dailyCap} monthlyCap={monthlyCap} />
        <ScopeField {...form.getInputProps('scopes')} />
        <ModelPicker {...form.getInputProps('models')} disabled={readOnly} />
        <ExpiryField {...form.getInputProps('expires')} disabled={readOnly} />
        <LimitFields
          requests={{
            placeholder: limit(defaults?.requests_per_minute),
            input: form.getInputProps('requestsPerMinute'),
          }}
          tokens={{
            placeholder: limit(defaults?.tokens_per_minute),
            input: form.getInputProps('tokensPerMinute'),
          }}
          concurrent={{
            placeholder: limit(defaults?.concurrent_requests),
            input: form.getInputProps('concurrentRequests'),
          }}
        />
        <AddressesField {...form.getInputProps('addresses')} disabled={readOnly} />
        <Switch
          label="Mark prompts for caching"
          description={`${service} marks conversations with Claude, so that earlier turns cost a tenth. Marks that this key sends itself always count.`}
          disabled={readOnly}
          {...form.getInputProps('cacheMarks', { type: 'checkbox' })}
        />
        {defaults && (
          <KeepBodiesField
            {...form.getInputProps('bodyDays')}
            value={form.values.bodyDays}
            disabled={readOnly}
            limits={defaults.bodies}
          />
        )}
      </Stack>
    </Fieldset>
  );
}

function ScopeField(input: Partial<CheckboxGroupProps>) {
  return (
    <Checkbox.Group label="This key may" {...input}>
      <Group mt={8} gap="lg">
        <Checkbox value="run" label="Run models and searches" />
        <Checkbox value="images" label="Make images" />
        <Checkbox value="usage" label="Read balance and usage" />
      </Group>
    </Checkbox.Group>
  );
}

/** Explains combinations of caps that are easy to misread. */
function CapNote({
  dailyCap,
  monthlyCap,
}: {
  readonly dailyCap: string;
  readonly monthlyCap: string;
}) {
  const [daily, monthly] = [microsFromText(dailyCap), microsFromText(monthlyCap)];
  const note =
    daily === 0 || monthly === 0
      ? 'A cap of 0 blocks every request, even free ones.'
      : daily !== null && monthly !== null && daily > monthly
        ? 'The monthly cap is below the daily cap, so the daily cap has no effect.'
        : null;
  return note === null ? null : (
    <Alert color="orange" variant="light" py="xs">
      {note}
    </Alert>
  );
}
