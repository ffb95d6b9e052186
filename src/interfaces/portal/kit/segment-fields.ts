import { formatPosition } from '../../../domain/submissions/grading/format-note.ts'
import { type Html, html } from '../../../html/html.ts'
import { area, type Form } from './forms.ts'

// The form that corrects the words of a recording, or of captions.

export const MADE_BY_MACHINE = 'Made by a machine: it may have mistakes.'

/** Largest form: an hour of words with their names, each character encoded as up to twelve bytes. */
export const SEGMENTS_BODY_LIMIT = 2 * 1024 * 1024

type Segment = { startMs: number | null; text: string }

export const labelSegment = (startMs: number | null, i: number): string =>
  startMs === null ? `Line ${i + 1}` : formatPosition(startMs)

export const segmentFields = (form: Form, segments: readonly Segment[]): Html =>
  html`${segments.map(({ startMs, text }, i) => area(form, { name: `segment-${i}`, label: labelSegment(startMs, i), value: text, rows: 2 }))}
<p class="hint mb-3">An emptied line is removed.</p>`

/** Texts of that form by the number of their segment. */
export function readSegmentTexts(values: URLSearchParams): Map<number, string> {
  const segments = [...values].filter(([name]) => /^segment-\d{1,5}$/.test(name))
  return new Map(segments.map(([name, text]) => [Number(name.slice('segment-'.length)), text]))
}
