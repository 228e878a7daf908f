// Asks users to confirm that it is them, whatever page made the call (`api/confirmed-call.ts`).
import { Button, Divider, Modal, Stack, Text } from '@mantine/core';
import { IconFingerprint, IconLogin2 } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import type { ConfirmationFields, ConfirmationWays } from '../../src/management/contract/common.ts';
import { ApiError, toApiError } from '../api/api-error.ts';
import { api } from '../api/client.ts';
import { askForConfirmationsBy } from '../api/confirmed-call.ts';
import { useSession } from '../api/session.ts';
import { ErrorNotice } from './error-notice.tsx';
import { passkeyObstacle, askForPasskey } from './passkeys.ts';
import { ConfirmationForm } from './password-forms.tsx';
import { useRun } from './use-run.ts';

type Asked = {
  readonly ways: ConfirmationWays;
  readonly send: (fields: ConfirmationFields) => Promise<unknown>;
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: ApiError) => void;
};

export function ConfirmationDialog() {
  const [asked, setAsked] = useState<Asked | null>(null);
  useEffect(
    () =>
      askForConfirmationsBy(
        (ways, send) => new Promise((resolve, reject) => setAsked({ ways, send, resolve, reject })),
      ),
    [],
  );
  const cancel = () => {
    setAsked(null);
    const message = 'You did not confirm it, so nothing was changed.';
    asked?.reject(new ApiError({ status: 0, code: 'not_confirmed', message }));
  };
  return (
    <Modal opened={asked !== null} onClose={cancel} title="Confirm that it is you" zIndex={300}>
      {asked && (
        <Ways
          ways={asked.ways}
          onClose={cancel}
          send={async (fields) => {
            try {
              asked.resolve(await asked.send(fields));
            } catch (thrown) {
              const error = toApiError(thrown);
              if (isToBeTriedAgain(error)) throw error;
              asked.reject(error);
            }
            setAsked(null);
          }}
        />
      )}
    </Modal>
  );
}

/** Other errors are the call's own, which its form shows. */
function isToBeTriedAgain({ param, status }: ApiError): boolean {
  return ['password', 'code', 'passkey'].includes(param ?? '') || status === 429 || status === 0;
}

type WaysProps = {
  readonly ways: ConfirmationWays;
  readonly send: (fields: ConfirmationFields) => Promise<unknown>;
  readonly onClose: () => void;
};

function Ways({ ways, send, onClose }: WaysProps) {
  const { features } = useSession();
  const hasPasskey = ways.passkey && passkeyObstacle(features) === null;
  const hasOther = hasPasskey || ways.provider !== null;
  return (
    <Stack>
      {ways.password && (
        <ConfirmationForm
          text="This change needs your password."
          action="Confirm"
          hasSecondFactor={ways.code}
          onClose={onClose}
          send={send}
        />
      )}
      {ways.password && hasOther && <Divider label="or" />}
      {!ways.password && (
        <Text>
          {hasOther
            ? 'For this change, show again who you are.'
            : 'You have no password here. Choose one: sign out and use “Forgot your password?”, or ask the operator for a link.'}
        </Text>
      )}
      {hasPasskey && (
        <WayButton
          label="Use a passkey"
          icon={<IconFingerprint size={18} aria-hidden />}
          run={async () => send({ passkey: await askForPasskey() })}
        />
      )}
      {ways.provider !== null && (
        <>
          <WayButton
            label={`Sign in again with ${ways.provider}`}
            icon={<IconLogin2 size={18} aria-hidden />}
            run={signInAfresh}
          />
          <Text size="sm" c="dimmed">
            You come back to this page, and what you typed is kept. Then make the change again.
          </Text>
        </>
      )}
    </Stack>
  );
}

async function signInAfresh(): Promise<never> {
  const next = location.pathname + location.search;
  const { url } = await api('POST /auth/oidc', { body: { next, fresh: true } });
  location.href = url;
  return new Promise(() => {});
}

type WayButtonProps = {
  readonly label: string;
  readonly icon: React.ReactNode;
  readonly run: () => Promise<unknown>;
};

function WayButton({ label, icon, run }: WayButtonProps) {
  const { start, isRunning, error } = useRun(run);
  return (
    <>
      <Button
        variant="default"
        fullWidth
        leftSection={icon}
        loading={isRunning}
        onClick={() => void start()}
      >
        {label}
      </Button>
      {error && <ErrorNotice error={error} />}
    </>
  );
}
