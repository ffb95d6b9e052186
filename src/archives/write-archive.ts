import type { WriteArchive } from '../domain/context.ts'
import { addCandidate } from './candidate.ts'
import { addMember } from './member.ts'
import { createZip } from './zip.ts'

/** Writes a ZIP file: JSON, the photos and recordings, and pages that show all of it in a browser, without the service. */
export const writeArchive: WriteArchive = async (ctx, whose, write) => {
  const zip = createZip(write, ctx.deps.clock())
  if ('address' in whose) await addCandidate(ctx, whose.address, zip)
  else await addMember(ctx, whose, zip)
  await zip.end()
}
