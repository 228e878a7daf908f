// The calls of an answer, and the results that the reader gives.
import { Button, Group, Stack, Textarea } from '@mantine/core';
import { IconCornerDownLeft } from '@tabler/icons-react';
import { useState } from 'react';
import type { ToolCall, ToolResult } from '../../../api/chat-formats/types.ts';
import { ToolCallView, ToolResultView } from '../../../parts/messages/tool-call.tsx';

type Props = {
  readonly calls: readonly ToolCall[];
  readonly results: readonly ToolResult[] | null;
  /** The results that the fields show before the user types. */
  readonly drafted: readonly ToolResult[];
  /** Results given to a tool before, to pick from. */
  readonly suggestionsFor: (tool: string) => readonly string[];
  /** Null: results cannot be sent now. */
  readonly onSend: ((results: readonly ToolResult[]) => void) | null;
};

const usualResults = ['{"ok": true}', '{"error": "not found"}'];

export function ToolCalls({ calls, results, drafted, suggestionsFor, onSend }: Props) {
  const [outputs, setOutputs] = useState(() =>
    calls.map((call) => resultOf(call, drafted)?.output ?? ''),
  );
  if (calls.length === 0) return null;
  const setOutput = (index: number, text: string) =>
    setOutputs(calls.map((_call, at) => (at === index ? text : (outputs[at] ?? ''))));
  const areGiven = calls.every((_call, index) => (outputs[index] ?? '').trim() !== '');
  return (
    <Stack gap="sm" mt="sm">
      {calls.map((call, index) => (
        <ToolCallView key={index} call={call}>
          {results ? (
            <ToolResultView result={resultOf(call, results)} />
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
        </ToolCallView>
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

function resultOf({ id }: ToolCall, results: readonly ToolResult[]): ToolResult | undefined {
  return results.find(({ callId }) => callId === id);
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
