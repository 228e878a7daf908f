// Signs in with a passkey: by a button, and by the browser's suggestions in the e-mail field.
import { Button, Divider } from '@mantine/core';
import { IconFingerprint } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { toApiError, type ApiError } from '../../api/api-error.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { signInWithPasskey, suggestPasskeys } from '../../parts/passkeys.ts';
import { enter } from './enter.ts';

export function PasskeyButton({ next }: { readonly next: string }) {
  const [isAsking, setAsking] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  useEffect(() => {
    // The browser asks for one passkey at a time.
    if (isAsking) return undefined;
    return suggestPasskeys({
      onSignedIn: () => void enter(next),
      onRefused: (thrown) => setError(toApiError(thrown)),
    });
  }, [isAsking, next]);
  const ask = async () => {
    setAsking(true);
    setError(null);
    try {
      await signInWithPasskey();
      await enter(next);
    } catch (thrown) {
      setError(toApiError(thrown));
      setAsking(false);
    }
  };
  return (
    <>
      <Divider label="or" />
      <Button
        variant="default"
        fullWidth
        leftSection={<IconFingerprint size={18} aria-hidden />}
        loading={isAsking}
        onClick={() => void ask()}
      >
        Sign in with a passkey
      </Button>
      {error && <ErrorNotice error={error} />}
    </>
  );
}
