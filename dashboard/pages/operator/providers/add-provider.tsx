// Chooses the provider to add: a known one, or one with a name of the operator's own.
import { Autocomplete, Button, Modal, Stack } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { countedText } from '../../../parts/number-text.ts';
import type { Saved } from '../saved/use-saved.ts';

type Props = {
  readonly opened: boolean;
  readonly known: Saved['known_providers'];
  /** Names that are in use. */
  readonly taken: readonly string[];
  readonly onClose: () => void;
  readonly onChoose: (name: string) => void;
};

export function AddProvider({ opened, ...rest }: Props) {
  return (
    <Modal opened={opened} onClose={rest.onClose} title="Add a provider">
      <ChooseForm {...rest} />
    </Modal>
  );
}

function ChooseForm({ known, taken, onChoose }: Omit<Props, 'opened'>) {
  const [name, setName] = useState('');
  const [error, setError] = useState<string | null>(null);
  const models = new Map(known.map((one) => [one.name, one.models]));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!/^[a-z0-9][a-z0-9_-]{0,39}$/.test(name))
      return setError('Choose one, or use lower-case letters, digits, - and _, at most 40.');
    if (taken.includes(name)) return setError('It is in the list of providers already.');
    onChoose(name);
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Autocomplete
          label="Provider"
          description="Choose one, or type a name for one at an address of your own, such as my-vllm. Its credential and a test come next."
          data-autofocus
          // The list itself scrolls, as screen readers expect of one that belongs to a field.
          withScrollArea={false}
          styles={{ options: { maxHeight: 220, overflowY: 'auto' } }}
          data={known.map((one) => one.name).filter((one) => !taken.includes(one))}
          renderOption={({ option: { value } }) =>
            models.get(value) ? `${value}: ${countedText(models.get(value)!, 'model')}` : value
          }
          value={name}
          onChange={setName}
          error={error}
        />
        <Button type="submit" style={{ alignSelf: 'end' }}>
          Next
        </Button>
      </Stack>
    </form>
  );
}
