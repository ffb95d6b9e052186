import { loadZones } from '../concurrency/load-zones.ts'
import type { Context } from '../context.ts'
import type { OrganizationLanguages } from '../languages/choose-language.ts'

/** Languages and time zone of the organization. */
export async function findMemberLanguages({
  db,
  organization: { id },
}: Context): Promise<OrganizationLanguages & { timeZone: string }> {
  const select = { language: true, languagesOffered: true, timeZone: true }
  const speaking = await db.organization.findUniqueOrThrow({ where: { id }, select })
  await loadZones(db, [speaking.timeZone])
  return speaking
}
