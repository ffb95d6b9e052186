import type { Invite, MediaFile, SessionEvent, Submission, SubmissionQuestion } from '../../../generated/prisma/client.ts'
import { waivedNoteOf } from './waive-requirement.ts'

/** Shared and missing screen, in milliseconds during which a question was open. */
export type ScreenFacts = {
  required: number
  missing: number
  /** From when on the organization went without it: null from before the start; undefined where it has not been waived. */
  waivedAt: Date | null | undefined
}

type Span = { from: number; to: number }
export type ScreenFactsInput = Pick<Submission, 'consentMedia' | 'submittedAt'> & {
  invite: Pick<Invite, 'screenRecording' | 'waivedChecks'>
  paper: Pick<SubmissionQuestion, 'openedAt' | 'closesAt' | 'closedAt'>[]
  media: Pick<MediaFile, 'kind' | 'state' | 'createdAt' | 'completedAt' | 'milliseconds'>[]
  notes: Pick<SessionEvent, 'kind' | 'at'>[]
}

/** To share the screen, and to begin to record it, takes a moment. */
const TOLERATED_MS = 5_000

/** @returns null if the invite doesn't require a screen recording. */
export function measureScreen(
  { consentMedia, submittedAt, invite, paper, media, notes }: ScreenFactsInput,
  now: Date,
): ScreenFacts | null {
  if (!invite.screenRecording || !(consentMedia.includes('screen') || invite.waivedChecks.includes('screen'))) return null
  const waivedAt = invite.waivedChecks.includes('screen')
    ? (notes.find(({ kind }) => kind === waivedNoteOf('screen'))?.at ?? null)
    : undefined
  const end = Math.min((submittedAt ?? now).getTime(), waivedAt === null ? 0 : (waivedAt ?? now).getTime())
  const questionSpans = paper.flatMap(({ openedAt, closedAt, closesAt }): Span[] =>
    openedAt ? [{ from: openedAt.getTime(), to: Math.min(end, (closedAt ?? closesAt ?? now).getTime()) }] : [],
  )
  const recorded = media
    .filter(({ kind }) => kind === 'screen')
    .map(({ state, createdAt, completedAt, milliseconds }): Span => {
      const from = createdAt.getTime()
      if (milliseconds !== null) return { from, to: from + milliseconds }
      return { from, to: completedAt?.getTime() ?? (state === 'uploading' ? end : from) }
    })
    .sort((a, b) => a.from - b.from)
  const required = questionSpans.reduce((sum, { from, to }) => sum + Math.max(0, to - from), 0)
  const missing = questionSpans.reduce((sum, span) => sum + lengthOutside(span, recorded), 0)
  return { required, missing: missing < TOLERATED_MS ? 0 : missing, waivedAt }
}

/** Length of the part of a span that no other span covers. @param otherSpans sorted by start. */
function lengthOutside({ from, to }: Span, otherSpans: Span[]): number {
  let outside = 0
  let covered = from
  for (const span of otherSpans) {
    if (span.from >= to) break
    outside += Math.max(0, span.from - covered)
    covered = Math.max(covered, span.to)
  }
  return outside + Math.max(0, to - covered)
}
