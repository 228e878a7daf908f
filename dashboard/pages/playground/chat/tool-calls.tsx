// The calls of an answer, and the results that the reader gives.
import { Button, Group, Stack, Text, Textarea } from '@mantine/core';
import { IconCornerDownLeft, IconTool } from '@tabler/icons-react';
import { useState } from 'react';
import type { ToolCall, ToolResult } from '../../../api/chat-formats/types.ts';
import { CodeBlock } from '../../../parts/code-block.tsx';
import classes from './chat.module.css';
import { prettyJson } from './definitions.ts';

type Props = {
  readonly calls: readonly ToolCall[];
  readonly results: readonly ToolResult[] | null;
  /** Results given to a tool before, to pick from. */
  readonly suggestionsFor: (tool: string) => readonly string[];
  /** Null: results cannot be sent now. */
  readonly onSend: ((results: readonly ToolResult[]) => void) | null;
};

const usualResults = ['{"ok": true}', '{"error": "not found"}'];

export function ToolCalls({ calls, results, suggestionsFor, onSend }: Props) {
  const [outputs, setOutputs] = useState<readonly string[]>([]);
  if (calls.length === 0) return null;
  const setOutput = (index: number, text: string) =>
    setOutputs(calls.map((_call, at) => (at === index ? text : (outputs[at] ?? ''))));
  const areGiven = calls.every((_call, index) => (outputs[index] ?? '').trim() !== '');
  return (
    <Stack gap="sm" mt="sm">
      {calls.map((call, index) => (
        <section key={index} className={classes.call} aria-label={`Call of ${call.name}`}>
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
          {results ? (
            <ResultView result={results.find(({ callId }) => callId === call.id)} />
          ) : (
            onSend && (
              <ResultField
                call={call}
                output={outputs[index] ?? ''}
                setOutput={(text) => setOutput(index, text)}
                suggestions={[
                  ...new Set([...suggestionsFor(call.name).slice(0, 3), ...usualResults]),
                ]}
              />
            )
          )}
        </section>
      ))}
      {!results && onSend && (
        <div>
          <Button
            size="xs"
            disabled={!areGiven}
            leftSection={<IconCornerDownLeft size={16} aria-hidden />}
            onClick={() =>
              onSend(calls.map(({ id }, index) => ({ callId: id, output: outputs[index]! })))
            }
          >
            {calls.length === 1 ? 'Send result' : `Send ${calls.length} results`}
          </Button>
        </div>
      )}
    </Stack>
  );
}

function ResultView({ result }: { readonly result: ToolResult | undefined }) {
  return (
    <>
      <Text size="sm" c="dimmed" mt={6}>
        Result
      </Text>
      <div className={classes.text}>{result?.output}</div>
    </>
  );
}

type FieldProps = {
  readonly call: ToolCall;
  readonly output: string;
  readonly setOutput: (text: string) => void;
  readonly suggestions: readonly string[];
};

function ResultField({ call, output, setOutput, suggestions }: FieldProps) {
  return (
    <>
      <Textarea
        mt="xs"
        label={`Result of ${call.name}`}
        placeholder="What your program would return: text or JSON"
        autosize
        minRows={1}
        maxRows={8}
        value={output}
        onChange={(event) => setOutput(event.currentTarget.value)}
      />
      <Group gap={6} mt={6} role="group" aria-label={`Usual results of ${call.name}`}>
        {suggestions.map((text) => (
          <Button
            key={text}
            size="compact-xs"
            variant="default"
            maw="100%"
            onClick={() => setOutput(text)}
          >
            {text}
          </Button>
        ))}
      </Group>
    </>
  );
}
