// What an account sees that has sent nothing yet: a key, the request as code, and a button that sends it.
import { Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Mode } from '../../app/account.ts';
import type { Output } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { useApi } from '../../api/use-api.ts';
import { CodeTabs } from '../../parts/code-block.tsx';
import { Panel } from '../../parts/panel.tsx';
import { firstModel } from './first-model.ts';
import classes from './first-run.module.css';
import { firstSamples } from './first-samples.ts';
import { KeyStep } from './key-step.tsx';
import { SendStep } from './send-step.tsx';

export type MadeKey = Output<'POST /accounts/:account/keys'>;

type Props = {
  readonly mode: Mode;
  /** Made here, with its text; null: not yet. */
  readonly made: MadeKey | null;
  readonly onMade: (key: MadeKey) => void;
};

const question = 'Say hello in one short sentence.';
const placeholder = 'YOUR_API_KEY';

export function FirstRun({ mode, made, onMade }: Props) {
  const { public_url: baseUrl } = useSession().features;
  const keys = useApi('GET /accounts/:account/keys', { query: { mode, state: ['active'], limit: 1 } });
  const catalogue = useApi('GET /accounts/:account/models', {});
  const own = made?.key.mode === mode ? made : null;
  const key = own?.key ?? keys.data?.data[0] ?? null;
  const model = firstModel(catalogue.data?.chat ?? [], { mode, allowed: key?.models ?? null });
  const samples = firstSamples({ baseUrl, key: own?.secret ?? placeholder, model: model ?? 'gpt-5-mini', text: question });
  return (
    <Panel title="Send your first request" description="Any SDK of OpenAI or Anthropic works, with this address and your key.">
      <ol className={classes.steps}>
        <Step title="Get a key">
          <KeyStep mode={mode} made={own} existing={keys.isPending ? undefined : key} onMade={onMade} />
        </Step>
        <Step title="Call it from your program">
          <CodeTabs samples={samples} />
        </Step>
        <Step title="Or send it from here">
          <SendStep keyId={key?.id ?? null} model={model} text={question} isReady={!catalogue.isPending && !keys.isPending} />
        </Step>
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
