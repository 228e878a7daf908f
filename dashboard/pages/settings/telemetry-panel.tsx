// The export of the account's own traces: where they go, and what became of them.
import { Button, Group, NumberInput, Stack, Switch, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useIsAtLeast } from '../../api/account.ts';
import type { Output } from '../../api/client.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { confirm } from '../../parts/confirm.tsx';
import { Fact } from '../../parts/fact.tsx';
import { showError, showSuccess } from '../../parts/notify.ts';
import { countText } from '../../parts/number-text.ts';
import { Panel } from '../../parts/panel.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { SubmitForm } from '../../parts/submit-form.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';
import { headersOf } from './header-lines.ts';

type Telemetry = Output<'GET /accounts/:account/telemetry'>;
type Props = { readonly telemetry: Telemetry };

export function TelemetryPanel() {
  const telemetry = useApi('GET /accounts/:account/telemetry', {});
  return (
    <Panel
      title="Traces"
      description="A trace of each request, with its calls and cost, goes to your own OpenTelemetry receiver."
    >
      <QueryView query={telemetry}>
        {(data) => (
          <Stack gap="lg" maw={520}>
            <ReceiverForm key={`${data.endpoint} ${data.header_names.join()}`} telemetry={data} />
            {data.endpoint !== null && <Content telemetry={data} />}
            {data.endpoint !== null && <Results telemetry={data} />}
          </Stack>
        )}
      </QueryView>
    </Panel>
  );
}

function useUpdate() {
  return useChange('PATCH /accounts/:account/telemetry', {
    invalidates: ['GET /accounts/:account/telemetry'],
    onSuccess: () => showSuccess('Saved. The change applies within seconds.'),
  });
}

function ReceiverForm({ telemetry }: Props) {
  const update = useUpdate();
  const { endpoint, header_names: names, sampling_ratio: ratio } = telemetry;
  const form = useForm({
    initialValues: { endpoint: endpoint ?? '', headers: '', percent: percentOf(ratio) },
    validate: {
      endpoint: (text) => (text.trim() === '' ? 'Enter an address.' : null),
      headers: (lines) => (headersOf(lines) ? null : 'Write each header as name: value.'),
      percent: (percent) => (percent === '' ? 'Enter a share from 0 to 100 %.' : null),
    },
  });
  const sending = useFormSubmit(
    form,
    (values) =>
      update.mutateAsync({
        body: {
          endpoint: values.endpoint.trim(),
          sampling_ratio: Number(values.percent) / 100,
          ...(values.headers.trim() !== '' && { headers: headersOf(values.headers)! }),
        },
      }),
    { endpoint: 'endpoint', headers: 'headers', sampling_ratio: 'percent' },
  );
  const kept = names.length === 0 ? '' : ` Kept if empty: ${names.join(', ')}.`;
  return (
    <SubmitForm
      sending={sending}
      submit={endpoint === null ? 'Start export' : 'Save'}
      button={{ variant: 'default' }}
      beside={endpoint !== null && <StopButton />}
      gap="sm"
    >
      <TextInput
        label="Address"
        description="OTLP over HTTP. /v1/traces is added."
        placeholder="https://otlp.example.com"
        {...form.getInputProps('endpoint')}
      />
      <Textarea
        label="Headers"
        description={`One in each line, for keys. Stored encrypted, and never shown again. Another address needs them anew.${kept}`}
        placeholder="authorization: Bearer …"
        autoComplete="off"
        spellCheck={false}
        autosize
        minRows={2}
        maxRows={6}
        {...form.getInputProps('headers')}
      />
      <NumberInput
        label="Share of requests"
        description="Requests with a traceparent decide for themselves."
        suffix=" %"
        min={0}
        max={100}
        decimalScale={4}
        {...form.getInputProps('percent')}
      />
    </SubmitForm>
  );
}

function StopButton() {
  const update = useUpdate();
  const ask = () =>
    confirm({
      title: 'Stop the export?',
      text: 'No further traces are sent. The address and the headers are removed.',
      action: 'Stop export',
      danger: true,
      run: () => update.mutateAsync({ body: { endpoint: null } }),
    });
  return (
    <Button variant="subtle" color="red" onClick={ask}>
      Stop export
    </Button>
  );
}

function Content({ telemetry: { include_content: isOn, endpoint } }: Props) {
  const update = useUpdate();
  const isOwner = useIsAtLeast('owner');
  const set = (include_content: boolean) => update.mutateAsync({ body: { include_content } });
  const ask = (turnsOn: boolean) => {
    if (!turnsOn) {
      set(false).catch(showError);
      return;
    }
    confirm({
      title: 'Include prompts and answers?',
      text: `Everything that your users ask and are answered is sent to ${endpoint}.`,
      action: 'Include them',
      danger: true,
      run: () => set(true),
    });
  };
  return (
    <Switch
      label="Include prompts and answers"
      description={
        isOwner
          ? 'Another address or other headers switch this off.'
          : 'Only an owner can switch this on.'
      }
      checked={isOn}
      disabled={update.isPending || (!isOwner && !isOn)}
      onChange={(event) => ask(event.currentTarget.checked)}
    />
  );
}

function Results({ telemetry }: Props) {
  return (
    <Stack gap="sm">
      <Group gap="xl">
        <Fact name="Sent">{countText(telemetry.sent_spans)} spans</Fact>
        <Fact name="Dropped">{countText(telemetry.dropped_spans)} spans</Fact>
        <Fact name="Last success">
          <TimeAgo at={telemetry.last_success_at} />
        </Fact>
      </Group>
      {telemetry.last_problem !== null && (
        <Fact name="Last problem">
          {telemetry.last_problem} (<TimeAgo at={telemetry.last_problem_at} />)
        </Fact>
      )}
    </Stack>
  );
}

/** An empty field is a text. */
function percentOf(ratio: number): number | string {
  return ratio * 100;
}
