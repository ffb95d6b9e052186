import type { Prisma } from '../../../generated/prisma/client.ts'
import type { KeyMode, ServiceContext } from '../../context.ts'
import { TRANSCRIPTION } from '../needs.ts'
import type { MediaFile } from './media.ts'

type Recording = Pick<MediaFile, 'id' | 'submissionId'>

/** Notes, in the transaction that joins it, that a recorded answer is to be transcribed, if the candidate and an admin agreed to that. */
export async function openTranscript(
  service: ServiceContext,
  { kind, organizationId, ...recording }: Recording & Pick<MediaFile, 'kind' | 'organizationId'>,
): Promise<void> {
  if (kind !== 'answer' || !(await isTranscriptionAgreed(service, { organizationId }, recording))) return
  await createTranscript(service, organizationId, { mediaId: recording.id, state: 'waiting' })
}

/** True if the candidate and an admin agreed that recorded answers are sent to the service. */
export async function isTranscriptionAgreed(
  { db, deps }: ServiceContext,
  scope: { organizationId: string; mode?: KeyMode },
  { submissionId }: Recording,
): Promise<boolean> {
  if (!deps.transcriber) return false
  const agreed = await db.submission.findFirst({
    where: {
      ...scope,
      id: submissionId,
      consentMedia: { has: TRANSCRIPTION },
      invite: { organization: { transcriptionHost: deps.transcriber.host } },
    },
    select: { id: true },
  })
  return agreed !== null
}

/** Keeps a transcript that there is already. */
export async function createTranscript(
  { db, deps }: ServiceContext,
  organizationId: string,
  data: Omit<Prisma.TranscriptCreateManyInput, 'organizationId' | 'createdAt'>,
): Promise<void> {
  await db.transcript.createMany({ data: [{ ...data, organizationId, createdAt: deps.clock() }], skipDuplicates: true })
}
