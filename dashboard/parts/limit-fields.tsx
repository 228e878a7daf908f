// The fields of limits, of a key and of an account.
import { NumberInput, SimpleGrid, TagsInput, type TagsInputProps } from '@mantine/core';

type Limit = {
  /** From `form.getInputProps`. */
  readonly input: object;
  readonly placeholder: string;
};

type Props = { readonly requests: Limit; readonly tokens: Limit; readonly concurrent: Limit };

export function LimitFields({ requests, tokens, concurrent }: Props) {
  const fields = [
    { label: 'Requests per minute', ...requests },
    { label: 'Tokens per minute', ...tokens },
    { label: 'Concurrent requests', ...concurrent },
  ];
  return (
    <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="md">
      {fields.map(({ label, placeholder, input }) => (
        <NumberInput
          key={label}
          label={label}
          placeholder={placeholder}
          min={0}
          max={9_999_999_999}
          allowDecimal={false}
          thousandSeparator=" "
          hideControls
          {...input}
        />
      ))}
    </SimpleGrid>
  );
}

type AddressProps = Omit<TagsInputProps, 'value'> & { readonly value?: readonly string[] };

export function AddressesField({ value = [], ...input }: AddressProps) {
  return (
    <TagsInput
      label="Allowed IP addresses"
      description="IP addresses or CIDR ranges. Press Enter after each. Leave empty to allow all."
      placeholder={value.length === 0 ? '203.0.113.7, 10.0.0.0/8' : undefined}
      splitChars={[',', ' ', ';']}
      acceptValueOnBlur
      maxTags={100}
      {...input}
      value={[...value]}
    />
  );
}
