// A call of a tool, and what it gave.
import { Group, Text } from '@mantine/core';
import { IconTool } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { ToolCall, ToolResult } from '../../api/chat-formats/types.ts';
import { CodeBlock } from '../code-block.tsx';
import { prettyJson } from '../pretty-json.ts';
import { AttachmentList } from './attachment-list.tsx';
import classes from './messages.module.css';

type Props = { readonly call: ToolCall; readonly children?: ReactNode };

export function ToolCallView({ call, children }: Props) {
  return (
    <section className={classes.call} aria-label={`Call of ${call.name}`}>
      <Group gap={6} mb={6}>
        <IconTool size={16} aria-hidden />
        <Text size="sm" fw={500} ff="monospace">
          {call.name}
        </Text>
      </Group>
      <CodeBlock
        label={`Arguments of ${call.name}`}
        code={prettyJson(call.arguments) ?? call.arguments}
      />
      {children}
    </section>
  );
}

export function ToolResultView({ result }: { readonly result: ToolResult | undefined }) {
  return (
    <>
      <Text size="sm" c="dimmed" mt={6}>
        Result
      </Text>
      <AttachmentList attachments={result?.attachments ?? []} />
      <div className={classes.text}>{result?.output}</div>
    </>
  );
}
