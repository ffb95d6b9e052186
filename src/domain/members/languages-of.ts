import { loadZones } from '../concurrency/load-zone.ts'
import type { Context } from '../context.ts'
import type { SpeakingOrganization } from '../languages/languages.ts'

/** What decides the language of an organization's candidates, and where its times are, for whoever acts in it. */
export async function languagesOf({ db, organization: { id } }: Context): Promise<SpeakingOrganization & { timeZone: string }> {
  const select = { language: true, languagesOffered: true, timeZone: true }
  const speaking = await db.organization.findUniqueOrThrow({ where: { id }, select })
  await loadZones(db, [speaking.timeZone])
  return speaking
}
