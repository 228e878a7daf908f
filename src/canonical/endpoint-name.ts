// The names of the charged endpoints in usage records, in the log and in the dashboard's filter.
import { clientFormatNames } from './format-name.ts';

const pieceEndpointNames = ['images', 'web-search'] as const;
/** Endpoints that sell by the piece (gateway/charging/piece-sale.ts). */
export type PieceEndpointName = (typeof pieceEndpointNames)[number];

export const endpointNames = [...clientFormatNames, ...pieceEndpointNames] as const;
