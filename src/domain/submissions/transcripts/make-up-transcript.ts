import { scopeWhere } from '../../../db/queries.ts'
import type { Context } from '../../context.ts'
import { createTranscript, isTranscriptionAgreed } from '../media/open-transcript.ts'
import { storeSegments } from './segments.ts'

/** Length of the simulated recordings. */
const SIMULATED_MS = 1_000

/** Invents the transcript of a simulated recording before it is joined, so that the recording is never sent. */
export async function makeUpTranscript(
  ctx: Context,
  recording: { id: string; submissionId: string },
  text: string,
): Promise<void> {
  if (!(await isTranscriptionAgreed(ctx, scopeWhere(ctx), recording))) return
  const segments = storeSegments([{ startMs: 0, endMs: SIMULATED_MS, text, isUncertain: false }])
  const words = { language: 'en', model: 'simulated', text, segments, completedAt: ctx.deps.clock() }
  await createTranscript(ctx, ctx.organization.id, { mediaId: recording.id, state: 'ready', ...words })
}
