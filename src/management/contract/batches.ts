// An account's batches, of OpenAI's and Anthropic's forms.
import { Type } from 'typebox';
import { batchStatuses } from '../../terms/batch.ts';
import { closed, Mode, ModeFilter, Named, orNull } from './common.ts';
import { endpoint } from './endpoint.ts';

const Batch = closed({
  id: Type.String(),
  key: Named,
  mode: Mode,
  endpoint: Type.String({ description: 'The path that its lines call.' }),
  status: Type.Enum([...batchStatuses], {
    description:
      '`cancelling`: no further line begins. `expired`: some lines had no turn in a day.',
  }),
  lines: closed(
    {
      total: Type.Integer({ description: 'All of them.' }),
      waiting: Type.Integer({ description: 'They wait, or run.' }),
      succeeded: Type.Integer({ description: 'They have answers.' }),
      failed: Type.Integer({ description: 'They are free.' }),
      cancelled: Type.Integer({ description: 'Not run, because the batch was cancelled.' }),
      expired: Type.Integer({ description: 'Not run, because they had no turn in a day.' }),
    },
    { description: 'How many lines it has, by their state.' },
  ),
  cost_micros: Type.Integer({ description: 'What its lines have cost so far.' }),
  held_micros: Type.Integer({ description: 'What is held for the lines that wait or run.' }),
  created_at: Type.String(),
  expires_at: Type.String({ description: 'Lines that have not begun by then are not run.' }),
  ended_at: orNull(Type.String(), 'null: it runs.'),
});

export const batchesEndpoints = {
  'GET /accounts/:account/batches': endpoint({
    access: 'viewer',
    operator: true,
    noted: 'daily',
    scope: 'reports:read',
    summary: 'List batches',
    note: 'Newest first. A batch is removed with its results.',
    query: Type.Object({ mode: ModeFilter }),
    page: Batch,
  }),
  'POST /accounts/:account/batches/:batch/cancel': endpoint({
    access: 'admin',
    summary: 'Cancel a batch',
    note: 'No further line begins. Nothing changes when it has ended.',
    output: Batch,
  }),
};
