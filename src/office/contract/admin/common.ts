// Shapes that several areas of the admin API share.
import { Type, type TSchema } from 'typebox';
import { closed, Mode, orNull } from '../common.ts';

/** Paging of every list. */
export const PageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Default: 50.' })),
  after: Type.Optional(
    Type.String({ maxLength: 500, description: 'The `next_cursor` of the page before.' }),
  ),
};

export function page<Row extends TSchema>(row: Row) {
  return closed({
    data: Type.Array(row),
    has_more: Type.Boolean(),
    next_cursor: orNull(Type.String(), 'null on the last page.'),
  });
}

export const ModeFilter = Type.Optional(
  Type.Enum([...Mode.enum], { description: 'Default: live.' }),
);

export const AccountFilter = Type.Optional(Type.String({ maxLength: 64 }));
export const Search = Type.Optional(Type.String({ maxLength: 200 }));

export const Day = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}$',
  mismatch: 'must be a UTC day, such as 2026-11-21',
  description: 'A UTC day: `2026-11-21`.',
});
