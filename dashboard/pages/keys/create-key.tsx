import { Drawer, Input, SegmentedControl } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useMode, useSetMode, type Mode } from '../../api/account.ts';
import type { Output } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { useChange } from '../../api/use-api.ts';
import { NewKeyDialog } from '../../parts/new-key-dialog.tsx';
import { SubmitForm } from '../../parts/submit-form.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';
import { KeyFields } from './key-fields.tsx';
import { KeyCode } from './key-code.tsx';
import {
  controlsOf,
  copiedValues,
  emptyValues,
  fieldNames,
  keyTitle,
  problemsOf,
  type Key,
  type KeyValues,
} from './key-values.ts';

type Props = {
  readonly opened: boolean;
  /** The key whose caps and limits the new one begins with. */
  readonly copied: Key | null;
  readonly onClose: () => void;
};

/** Creates a key, then shows its secret once. */
export function CreateKey({ opened, copied, onClose }: Props) {
  const [created, setCreated] = useState<Output<'POST /accounts/:account/keys'> | null>(null);
  return (
    <>
      <Drawer
        opened={opened}
        onClose={onClose}
        title={copied ? `Duplicate the key “${keyTitle(copied)}”` : 'Create a key'}
        position="right"
        size="lg"
      >
        <CreateKeyForm
          copied={copied}
          onClose={onClose}
          onCreated={(key) => {
            setCreated(key);
            onClose();
          }}
        />
      </Drawer>
      <NewKeyDialog created={created} power="spend your balance" onClose={() => setCreated(null)}>
        {created && <KeyCode row={created.key} secret={created.secret} />}
      </NewKeyDialog>
    </>
  );
}

type FormProps = {
  readonly copied: Key | null;
  readonly onClose: () => void;
  readonly onCreated: (key: Output<'POST /accounts/:account/keys'>) => void;
};

function CreateKeyForm({ copied, onClose, onCreated }: FormProps) {
  const { test_mode: hasTestMode } = useSession().features;
  const [mode, setMode] = useState<Mode>(useMode());
  const showMode = useSetMode();
  const create = useChange('POST /accounts/:account/keys', {
    invalidates: ['GET /accounts/:account/keys'],
  });
  const form = useForm<KeyValues>({
    initialValues: copied ? copiedValues(copied) : emptyValues,
    validate: problemsOf,
  });
  const sending = useFormSubmit(
    form,
    async (values) => {
      const { name, ...controls } = controlsOf(values);
      const created = await create.mutateAsync({ body: { mode, name: name ?? '', ...controls } });
      showMode(mode);
      onCreated(created);
    },
    fieldNames,
  );
  return (
    <SubmitForm sending={sending} submit="Create key" onClose={onClose} gap="lg">
      {hasTestMode && (
        <Input.Wrapper
          label="Mode"
          labelElement="div"
          description={
            mode === 'live'
              ? 'Calls real models and spends your balance.'
              : 'The sandbox answers. Only play money is spent.'
          }
        >
          <SegmentedControl
            mt={8}
            aria-label="Mode"
            value={mode}
            onChange={(value) => setMode(value === 'test' ? 'test' : 'live')}
            data={[
              { value: 'live', label: 'Live' },
              { value: 'test', label: 'Test' },
            ]}
          />
        </Input.Wrapper>
      )}
      <KeyFields form={form} />
    </SubmitForm>
  );
}
