// The names of the charged endpoints in usage records, in the log and in the dashboard's filter.
import { clientFormatNames } from './format-name.ts';

export const endpointNames = [...clientFormatNames, 'images', 'web-search'] as const;
