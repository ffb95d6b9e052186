import type { WriteArchive } from '../domain/context.ts'
import { addCandidate } from './candidate.ts'
import { addMember } from './member.ts'
import { createZip } from './zip.ts'

/** Writes a ZIP file with JSON, media, and pages that show all of it offline. */
export const writeArchive: WriteArchive = async (ctx, subject, write) => {
  const zip = createZip(write, ctx.deps.clock())
  if ('address' in subject) await addCandidate(ctx, subject.address, zip)
  else await addMember(ctx, subject, zip)
  await zip.end()
}
