import { Button, Drawer, Group, Input, SegmentedControl, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useMode, useSetMode, type Mode } from '../../app/account.ts';
import type { ApiError } from '../../api/api-error.ts';
import type { Output } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { useChange } from '../../api/use-api.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { showFieldError } from '../../parts/form-errors.ts';
import { KeyFields } from './key-fields.tsx';
import { controlsOf, emptyValues, fieldNames, problemsOf, type KeyValues } from './key-values.ts';
import { NewKeyDialog } from './new-key-dialog.tsx';

type Props = { readonly opened: boolean; readonly onClose: () => void };

/** Makes a key, then shows it, once. */
export function CreateKey({ opened, onClose }: Props) {
  const [made, setMade] = useState<Output<'POST /accounts/:account/keys'> | null>(null);
  return (
    <>
      <Drawer opened={opened} onClose={onClose} title="Create a key" position="right" size="lg">
        <CreateKeyForm
          onClose={onClose}
          onMade={(key) => {
            setMade(key);
            onClose();
          }}
        />
      </Drawer>
      <NewKeyDialog made={made} onClose={() => setMade(null)} />
    </>
  );
}

type FormProps = {
  readonly onClose: () => void;
  readonly onMade: (key: Output<'POST /accounts/:account/keys'>) => void;
};

function CreateKeyForm({ onClose, onMade }: FormProps) {
  const { test_mode: hasTestMode } = useSession().features;
  const [mode, setMode] = useState<Mode>(useMode());
  const showMode = useSetMode();
  const [error, setError] = useState<ApiError | null>(null);
  const create = useChange('POST /accounts/:account/keys', { invalidates: ['GET /accounts/:account/keys'] });
  const form = useForm<KeyValues>({ initialValues: emptyValues, validate: problemsOf });
  const submit = async (values: KeyValues) => {
    setError(null);
    try {
      const { name, ...controls } = controlsOf(values);
      const made = await create.mutateAsync({ body: { mode, name: name ?? '', ...controls } });
      showMode(mode);
      onMade(made);
    } catch (thrown) {
      setError(showFieldError(form, thrown, fieldNames));
    }
  };
  return (
    <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
      <Stack gap="lg">
        {hasTestMode && (
          <Input.Wrapper
            label="Mode"
            labelElement="div"
            description={mode === 'live' ? 'Calls real models, and spends your balance.' : 'The sandbox answers, for play money.'}
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
        {error && <ErrorNotice error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} disabled={create.isPending}>
            Cancel
          </Button>
          <Button type="submit" loading={create.isPending}>
            Create key
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
