import { Input } from '@mantine/core';
import { KeySelect, type Key } from '../../parts/key-select.tsx';

type Props = { readonly chosenKey: Key; readonly setKey: (key: Key | null) => void };

export function KeyField({ chosenKey, setKey }: Props) {
  return (
    <Input.Wrapper label="Key" labelElement="div">
      <KeySelect
        label="Key"
        mode={chosenKey.mode}
        onlyActive
        value={chosenKey.id}
        onChange={(key) => key && setKey(key)}
        allowDeselect={false}
      />
    </Input.Wrapper>
  );
}
