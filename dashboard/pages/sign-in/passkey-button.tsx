// Signs in with a passkey: by a button, and by the browser's suggestions in the e-mail field.
import { Button, Divider } from '@mantine/core';
import { IconFingerprint } from '@tabler/icons-react';
import { useEffect } from 'react';
import { toApiError } from '../../api/api-error.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { signInWithPasskey, suggestPasskeys } from '../../parts/passkeys.ts';
import { useRun } from '../../parts/use-run.ts';
import { enter } from './enter.ts';

export function PasskeyButton({ next }: { readonly next: string }) {
  const { start, isRunning, error, setError } = useRun(async () => {
    await signInWithPasskey();
    await enter(next);
  });
  useEffect(() => {
    // The browser asks for one passkey at a time.
    if (isRunning) return undefined;
    return suggestPasskeys({
      onSignedIn: () => void enter(next),
      onRefused: (thrown) => setError(toApiError(thrown)),
    });
  }, [isRunning, next, setError]);
  return (
    <>
      <Divider label="or" />
      <Button
        variant="default"
        fullWidth
        leftSection={<IconFingerprint size={18} aria-hidden />}
        loading={isRunning}
        onClick={() => void start()}
      >
        Sign in with a passkey
      </Button>
      {error && <ErrorNotice error={error} />}
    </>
  );
}
