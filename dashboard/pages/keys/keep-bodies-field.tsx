// Form field: switches on the storage of a key's bodies, and sets for how many days.
import { Alert, Select, Stack, Switch } from '@mantine/core';
import { useIsAtLeast } from '../../api/account.ts';
import type { Output } from '../../api/client.ts';
import { byteText } from '../../parts/number-text.ts';

type Props = {
  /** Empty: they are not kept. */
  readonly value: string;
  readonly error?: string;
  readonly disabled: boolean;
  readonly onChange: (value: string) => void;
  /** null: the operator keeps none. */
  readonly limits: Output<'GET /accounts/:account/key-defaults'>['bodies'];
};

export function KeepBodiesField({ value, error, disabled, onChange, limits }: Props) {
  const isOwner = useIsAtLeast('owner');
  const isOn = value !== '';
  if (!limits && !isOn) return null;
  const days = Array.from({ length: limits?.days_max ?? 0 }, (_, index) => String(index + 1));
  return (
    <Stack gap="sm">
      <Switch
        label="Keep request and answer bodies"
        description={descriptionOf(limits, isOwner)}
        checked={isOn}
        error={isOn ? undefined : error}
        disabled={disabled || (!isOwner && !isOn)}
        onChange={(event) => onChange(event.currentTarget.checked ? (days.at(-1) ?? '') : '')}
      />
      {isOn && (
        <Select
          label="Keep them for"
          allowDeselect={false}
          checkIconPosition="right"
          data={[...new Set([...days, value])].map((each) => ({
            value: each,
            label: each === '1' ? '1 day' : `${each} days`,
          }))}
          value={value}
          error={error}
          disabled={disabled || !isOwner}
          onChange={(chosen) => onChange(chosen ?? '')}
          maw={200}
        />
      )}
      {isOn && limits?.retained === false && (
        <Alert color="orange" variant="light" py="xs">
          This account stores no answers (Settings), so nothing is kept.
        </Alert>
      )}
    </Stack>
  );
}

function descriptionOf(limits: Props['limits'], isOwner: boolean): string {
  if (!limits) return 'The operator of this gateway has switched this off: nothing is kept.';
  const who = isOwner ? '' : ' Only an owner can switch this on.';
  return `Stores what this key sends and what it is answered, encrypted, up to ${byteText(limits.body_limit_bytes)} of each. Owners and admins of the account can read it on the page Requests. Off: nothing is kept.${who}`;
}
