import { Input } from '@mantine/core';
import { useUser } from '../../api/session.ts';
import { KeySelect, type Key } from '../../parts/key-select.tsx';

type Props = { readonly chosenKey: Key; readonly setKey: (key: Key | null) => void };

export function KeyField({ chosenKey, setKey }: Props) {
  const owner = useOtherOwner(chosenKey);
  return (
    <Input.Wrapper
      label="Key"
      labelElement="div"
      description={owner && `This is ${owner} key. Your requests count in its caps.`}
    >
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

/** `Ada Lovelace’s`, or `the account’s` for a key of nobody. Null when the key is the user's own. */
export function useOtherOwner({ owner }: Key): string | null {
  const { id } = useUser();
  return owner?.user_id === id ? null : `${owner?.name ?? 'the account'}’s`;
}
