import type { WriteArchive } from '../domain/context.ts'
import { createZip } from '../files/zip.ts'
import { exportToZip } from '../transfer/export-to-zip.ts'
import { addCandidate } from './candidate.ts'
import { addMember } from './member.ts'

/** Writes a ZIP file with JSON, media, and pages that show all of it offline; for an organization, its export. */
export const writeArchive: WriteArchive = async (ctx, subject, write) => {
  const zip = createZip(write, ctx.deps.clock())
  if ('address' in subject) await addCandidate(ctx, subject.address, zip)
  else if ('memberId' in subject) await addMember(ctx, subject, zip)
  else await exportToZip(ctx, zip, { movedTo: null, omitted: new Set(subject.hasTranscripts ? [] : ['transcripts']) })
  await zip.end()
}
