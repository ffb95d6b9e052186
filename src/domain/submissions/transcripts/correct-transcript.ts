import { recordAudit } from '../../audit/record-audit.ts'
import { authorize } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { isUuid } from '../../text/uuid.ts'
import { inTransaction } from '../../transaction.ts'
import { checkText, findIssues } from '../../validation/checks.ts'
import { throwIfIssues } from '../../validation/throw-if-issues.ts'
import { getTranscript } from './read-transcripts.ts'
import { joinText, storeSegments } from './segments.ts'

/** Most characters of a corrected segment. */
export const MAX_SEGMENT_LENGTH = 2_000

/**
 * Corrects the words of segments. The machine's words are kept, and a corrected segment counts as certain. An empty text removes the
 * segment.
 *
 * @param texts by the number of the segment; others are kept.
 * @param seen the texts before, as the page showed them.
 * @throws DomainError not_permitted; media_not_found; invalid: a text that is too long, or `changed` by somebody else meanwhile.
 */
export async function correctTranscript(
  ctx: Context,
  mediaId: string,
  { texts, seen: seenAt }: { texts: ReadonlyMap<number, string>; seen: Date | null },
): Promise<void> {
  authorize(ctx, 'grade')
  if (!isUuid(mediaId)) throw new DomainError('media_not_found')
  await inTransaction(ctx, async (inside) => {
    const { db, deps } = inside
    await db.selectFrom('transcripts').select('mediaId').where('mediaId', '=', mediaId).forNoKeyUpdate().execute()
    const { media, transcript } = await getTranscript(inside, mediaId)
    if (transcript.state !== 'ready') throw new DomainError('media_not_found')
    throwIfIssues(findIssues([...texts].map(([i, text]) => [`segment-${i}`, checkText(text, MAX_SEGMENT_LENGTH)])))
    const isSeen = (transcript.correctedAt?.getTime() ?? 0) === (seenAt?.getTime() ?? 0)
    throwIfIssues(isSeen ? [] : [{ field: 'segment-0', rule: 'changed', value: transcript.segments[0]?.text ?? '' }])
    const segments = transcript.segments.map((segment, i) => {
      const text = texts.get(i)?.trim() ?? segment.text
      return text === segment.text ? segment : { ...segment, text, isUncertain: false }
    })
    const changed = segments.filter((segment, i) => segment !== transcript.segments[i]).length
    if (changed === 0) return
    const remaining = segments.filter(({ text }) => text !== '')
    const before = Math.max(transcript.correctedAt?.getTime() ?? 0, 0)
    await db.transcript.updateMany({
      where: { organizationId: ctx.organization.id, mediaId },
      data: {
        text: joinText(remaining),
        segments: storeSegments(remaining),
        original: storeSegments(transcript.original ?? transcript.segments),
        correctedAt: new Date(Math.max(deps.clock().getTime(), before + 1)),
      },
    })
    const submission = await db.submission.findFirstOrThrow({
      where: { organizationId: ctx.organization.id, id: media.submissionId, ...(ctx.mode !== 'all' && { mode: ctx.mode }) },
      select: { inviteId: true },
    })
    const target = { kind: 'invite', id: submission.inviteId } as const
    await recordAudit(inside, { action: 'corrected_transcript', target, details: { count: changed } })
  })
}
