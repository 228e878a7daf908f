// Parts of the descriptions of endpoints.
import { Type, type TSchema } from 'typebox';
import type { Parameter } from './operation.ts';

export const json = (schema: TSchema) => ({ 'application/json': schema });

export const query = parameterIn('query');
export const header = parameterIn('header');

function parameterIn(place: Parameter['in']) {
  return (name: string, description: string, schema: TSchema = Type.String()): Parameter => ({
    name,
    in: place,
    description,
    schema,
  });
}
