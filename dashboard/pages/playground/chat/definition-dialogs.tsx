import { Switch, TextInput } from '@mantine/core';
import { parseSchema, parseTools, schemaExample, toolsExample } from './definitions.ts';
import type { Draft } from './draft.ts';
import { JsonDialog } from './json-dialog.tsx';

export type Definition = 'tools' | 'schema';

type Props = {
  /** Null: no dialog is open. */
  readonly edited: Definition | null;
  readonly onClose: () => void;
  readonly draft: Draft;
  readonly setDraft: (patch: Partial<Draft>) => void;
};

/** Outside the settings, which move into a drawer when the window becomes narrow. */
export function DefinitionDialogs({ edited, onClose, draft, setDraft }: Props) {
  const options = { name: draft.schemaName, strict: draft.isSchemaStrict };
  return (
    <>
      <JsonDialog
        opened={edited === 'tools'}
        onClose={onClose}
        title="Tools"
        label="Function definitions"
        description="A list of functions with a name, a description and the JSON Schema of their parameters. The definitions of any format can be pasted."
        example={toolsExample}
        text={draft.toolsText}
        onSave={(toolsText) => setDraft({ toolsText, toolChoice: 'auto' })}
        parse={parseTools}
      />
      <JsonDialog
        opened={edited === 'schema'}
        onClose={onClose}
        title="Output schema"
        label="JSON Schema"
        description="The answer is JSON that follows this schema."
        example={schemaExample}
        text={draft.schemaText}
        onSave={(schemaText) => setDraft({ schemaText })}
        parse={(text) => parseSchema(text, options)}
      >
        <TextInput
          label="Name"
          maxLength={64}
          value={draft.schemaName}
          onChange={(event) =>
            setDraft({ schemaName: event.currentTarget.value.replaceAll(/[^\w-]/g, '_') })
          }
        />
        <Switch
          label="Strict"
          description="Every property must be required, and no others allowed. Messages is always strict."
          checked={draft.isSchemaStrict}
          onChange={(event) => setDraft({ isSchemaStrict: event.currentTarget.checked })}
        />
      </JsonDialog>
    </>
  );
}
