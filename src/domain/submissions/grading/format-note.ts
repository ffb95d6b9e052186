import type { ReleasedNote } from './notes.ts'

/** "1:02", as players show it. */
export const formatPosition = (milliseconds: number): string => {
  const seconds = Math.floor(milliseconds / 1_000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

/** "0:18 to 0:21" */
export const formatMoment = ({ startMs, endMs }: Pick<ReleasedNote, 'startMs' | 'endMs'>): string =>
  endMs === null ? formatPosition(startMs) : `${formatPosition(startMs)} to ${formatPosition(endMs)}`

/** "0:18 Omission, 1 point off: the date is missing" */
export function formatNote(note: ReleasedNote): string {
  const kind = [note.category, note.pointsOff !== null && `${note.pointsOff} ${note.pointsOff === 1 ? 'point' : 'points'} off`]
    .filter(Boolean)
    .join(', ')
  return `${formatMoment(note)} ${[kind, note.text].filter(Boolean).join(': ')}`
}
