// The kept bodies of a request as a conversation. All of it is plain text, and links load nothing.
import { Alert, Spoiler, Stack, Text } from '@mantine/core';
import { useMemo } from 'react';
import type { RequestBodies } from '../../../src/management/contract/requests.ts';
import { readKept } from '../../api/chat-formats/read-kept.ts';
import { chatFormats } from '../../api/chat-formats/registry.ts';
import {
  noAnswer,
  type Answer,
  type Attachment,
  type FormatName,
  type Json,
  type ToolResult,
} from '../../api/chat-formats/types.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { AttachmentList } from '../../parts/messages/attachment-list.tsx';
import classes from '../../parts/messages/messages.module.css';
import { Reasoning } from '../../parts/messages/reasoning.tsx';
import { ToolCallView, ToolResultView } from '../../parts/messages/tool-call.tsx';

type Props = {
  readonly kept: NonNullable<RequestBodies['kept']>;
  readonly format: FormatName;
};

export function RequestConversation({ kept, format }: Props) {
  const { request, answer } = useMemo(() => readKept(chatFormats[format], kept), [kept, format]);
  const { messages = [], tools = [] } = request ?? {};
  const results = messages.flatMap((each) => (each.role === 'tool' ? each.results : []));
  const calls = messages.flatMap((each) => (each.role === 'assistant' ? each.calls : []));
  const isLone = ({ callId }: ToolResult) => calls.every(({ id }) => id !== callId);
  return (
    <Stack gap="md">
      {!request && (
        <Text size="sm">
          The body of the request is no whole JSON object. The tab “Request” shows what is kept.
        </Text>
      )}
      {tools.length > 0 && (
        <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          Tools: {tools.map(({ name }) => name).join(', ')}
        </Text>
      )}
      {messages.map((message, index) =>
        message.role === 'tool' ? (
          message.results.filter(isLone).map((result) => (
            <section key={`${index} ${result.callId}`} aria-label="Tool">
              <ToolResultView result={result} />
            </section>
          ))
        ) : (
          <Message key={index} title={titles[message.role]} said={message} results={results} />
        ),
      )}
      {answer ? (
        <Message title="Answer" said={answer} results={[]} />
      ) : (
        <Text size="sm">There is no answer to show.</Text>
      )}
    </Stack>
  );
}

const titles = { user: 'User', system: 'System', assistant: 'Assistant' };

type MessageProps = {
  readonly title: string;
  readonly said: Partial<Answer> & { readonly attachments?: readonly Attachment[] };
  /** Each is shown with its call. */
  readonly results: readonly ToolResult[];
};

function Message({ title, said, results }: MessageProps) {
  const { text, reasoning, calls, echo, error, images, attachments } = { ...noAnswer, ...said };
  return (
    <section aria-label={title}>
      <Text size="sm" c="dimmed" mb={4}>
        {title}
      </Text>
      <Stack gap="xs" className={title === 'User' ? classes.asked : undefined}>
        <Reasoning text={reasoning} />
        <AttachmentList attachments={attachments ?? images ?? []} />
        {text !== '' && (
          <Spoiler maxHeight={320} showLabel="Show all" hideLabel="Show less">
            <div className={classes.text}>{text}</div>
          </Spoiler>
        )}
        {calls.map((call, index) => {
          const result = results.find(({ callId }) => callId === call.id);
          return (
            <ToolCallView key={index} call={call}>
              {result && <ToolResultView result={result} />}
            </ToolCallView>
          );
        })}
        {echo.filter(isOther).map((part, index) => (
          <details key={index}>
            <summary>{String(part['type'])}</summary>
            <CodeBlock label={String(part['type'])} code={JSON.stringify(part, null, 2)} />
          </details>
        ))}
        {error && (
          <Alert color="red" py="xs" title={error.code}>
            {error.message}
          </Alert>
        )}
      </Stack>
    </section>
  );
}

/** These are shown as text, reasoning, a call or an image. */
const shownTypes =
  /^(text|thinking|tool_use|message|reasoning|(function|custom_tool|image_generation)_call)$/;

function isOther({ type }: Json): boolean {
  return typeof type === 'string' && !shownTypes.test(type);
}
