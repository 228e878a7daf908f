// Metrics of the bodies that requests send.
import type { BodyRoom } from '../body-room.ts';
import { single, type Metric } from './metric.ts';

type Sources = { readonly room: BodyRoom; readonly arriving: BodyRoom };

export function bodyMetrics({ room, arriving }: Sources): readonly Metric[] {
  return [
    single({
      name: 'arriving_body_bytes',
      type: 'gauge',
      help: 'Bytes that have arrived of bodies that are not complete.',
      value: () => arriving.bytes,
    }),
    single({
      name: 'waiting_bodies',
      type: 'gauge',
      help: 'Requests with large bodies that wait for memory.',
      value: () => room.waiting,
    }),
  ];
}
