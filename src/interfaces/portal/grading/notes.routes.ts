import type { FastifyInstance } from 'fastify'
import { addNote, deleteNote, type NewNote } from '../../../domain/submissions/grading/notes.ts'
import { emptyForm, readFields, submit } from '../kit/forms.ts'
import { onePage, readPoints, sheetPath } from './grading.routes.ts'

type Route = { Params: { submissionId: string } }
type NoteRoute = { Params: { submissionId: string; noteId: string } }

/** Notes at moments of recorded answers. The script sends them to script.routes.ts. */
export function notesRoutes(app: FastifyInstance): void {
  app.post<Route>('/grading/:submissionId/notes', (request, reply) =>
    submit(request, reply, {
      page: (form) => onePage(request, form),
      async work(values) {
        await addNote(request.ctx, readNote(request.params.submissionId, values))
        return `${sheetPath(request, {})}#question-${Number(values.get('number')) || 1}`
      },
    }),
  )

  app.post<NoteRoute>('/grading/:submissionId/notes/:noteId/delete', (request, reply) =>
    submit(request, reply, {
      page: () => onePage(request, emptyForm),
      async work() {
        const { submissionId, noteId: id } = request.params
        await deleteNote(request.ctx, { submissionId, id })
        return sheetPath(request, {})
      },
    }),
  )
}

export function readNote(submissionId: string, values: URLSearchParams): NewNote {
  const {
    id,
    media: mediaId,
    at,
    until,
    text,
    category,
    pointsOff,
  } = readFields(values, ...(['id', 'media', 'at', 'until', 'text', 'category', 'pointsOff'] as const))
  return {
    ...{ id, submissionId, mediaId, category, text: text.trim() },
    startMs: readMoment(at) ?? Number.NaN,
    endMs: readMoment(until),
    pointsOff: readPoints(pointsOff),
  }
}

/** Reads "1:02.5" and "62,5". @returns milliseconds; null if nothing was typed, NaN if it is no time. */
function readMoment(typed: string): number | null {
  const text = typed.trim().replace(',', '.')
  if (text === '') return null
  const [, minutes = '0', seconds] = /^(?:(\d{1,4}):)?(\d{1,5}(?:\.\d{1,3})?)$/.exec(text) ?? []
  return seconds === undefined ? Number.NaN : Math.round((Number(minutes) * 60 + Number(seconds)) * 1_000)
}
