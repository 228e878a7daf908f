// First steps of an account without requests: create a key, see the request as code, send it.
import { Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useIsAtLeast, type Mode } from '../../api/account.ts';
import type { Output } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { useApi } from '../../api/use-api.ts';
import { CodeTabs } from '../../parts/code-block.tsx';
import { Panel } from '../../parts/panel.tsx';
import classes from './first-run.module.css';
import { firstModel, firstSamples } from '../../parts/first-request.ts';
import { KeyStep } from './key-step.tsx';
import { SendStep } from '../../parts/send-step.tsx';

type CreatedKey = Output<'POST /accounts/:account/keys'>;

type Props = {
  readonly mode: Mode;
  /** The key created on this page, with its secret; null before that. */
  readonly created: CreatedKey | null;
  readonly onCreated: (key: CreatedKey) => void;
};

const question = 'Say hello in one short sentence.';
const placeholder = 'YOUR_API_KEY';

export function FirstRun({ mode, created, onCreated }: Props) {
  const { public_url: baseUrl } = useSession().features;
  const canSend = useIsAtLeast('member');
  const keys = useApi('GET /accounts/:account/keys', {
    query: { mode, state: ['active'], limit: 1 },
  });
  const catalogue = useApi('GET /accounts/:account/models', {});
  const own = created?.key.mode === mode ? created : null;
  const key = own?.key ?? keys.data?.data[0] ?? null;
  const model = firstModel(catalogue.data?.chat ?? [], { mode, allowed: key?.models ?? null });
  const samples = firstSamples({
    baseUrl,
    key: own?.secret ?? placeholder,
    model: model ?? 'gpt-6-luna',
    text: question,
  });
  return (
    <Panel
      title="Send your first request"
      description="Use any OpenAI or Anthropic SDK with the base URL below and your key."
    >
      <ol className={classes.steps}>
        <Step title="Create a key">
          <KeyStep
            mode={mode}
            created={own}
            existing={keys.isPending ? undefined : key}
            onCreated={onCreated}
          />
        </Step>
        <Step title="Call the API from your program">
          <CodeTabs samples={samples} />
        </Step>
        {canSend && (
          <Step title="Or send the request from here">
            <SendStep
              keyId={key?.id ?? null}
              model={model}
              text={question}
              isReady={!catalogue.isPending && !keys.isPending}
            />
          </Step>
        )}
      </ol>
    </Panel>
  );
}

function Step({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <li className={classes.step}>
      <Stack gap="sm" miw={0}>
        <Title order={3} size="h4">
          {title}
        </Title>
        <Text component="div">{children}</Text>
      </Stack>
    </li>
  );
}
