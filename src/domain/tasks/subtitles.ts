// Writes subtitles from the segments of a transcript: SubRip and WebVTT.
type Segment = { readonly start: number; readonly end: number; readonly text: string };

export function writeSrt(segments: readonly Segment[]): string {
  return segments
    .map(({ start, end, text }, index) =>
      [index + 1, `${time(start, ',')} --> ${time(end, ',')}`, text.trim(), '', ''].join('\n'),
    )
    .join('');
}

export function writeVtt(segments: readonly Segment[]): string {
  const cues = segments.map(
    ({ start, end, text }) => `${time(start, '.')} --> ${time(end, '.')}\n${text.trim()}\n\n`,
  );
  return `WEBVTT\n\n${cues.join('')}`;
}

/** `00:01:02,345` */
function time(seconds: number, point: ',' | '.'): string {
  const ms = Math.round(seconds * 1_000);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const fraction = String(ms % 1_000).padStart(3, '0');
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}${point}${fraction}`;
}
