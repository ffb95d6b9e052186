import { isZoneKnown } from '../../db/zones.ts'
import type { ServiceContext } from '../context.ts'
import { selectableLanguages } from '../languages/choose-language.ts'
import type { InvitationRef } from '../secrets/invitation-tokens.ts'
import { isZoneName } from '../time/zones.ts'
import { type CandidateInvite, findInvitation } from './candidate-moves.ts'

// Language and time zone from a candidate's page. No event is recorded.

/** Saves the candidate's language for pages and mails. A language that is not offered changes nothing. */
export async function saveLanguage(service: ServiceContext, ref: InvitationRef, language: string): Promise<void> {
  const invite = await findInvitation(service, ref)
  if (!invite || !selectableLanguages(service.deps.languages, invite).includes(language)) return
  await updateInvitePreferences(service, invite, { chosenLanguage: language })
}

/** Saves the time zone of the candidate's device. Ignores unknown zones. */
export async function saveTimeZone(service: ServiceContext, ref: InvitationRef, timeZone: string): Promise<void> {
  if (!isZoneName(timeZone)) return
  const invite = await findInvitation(service, ref)
  if (!invite || invite.timeZone === timeZone || !(await isZoneKnown(service.db, timeZone))) return
  await updateInvitePreferences(service, invite, { timeZone })
}

async function updateInvitePreferences(
  { db }: ServiceContext,
  { organizationId, id, linkVersion }: CandidateInvite,
  data: { chosenLanguage: string } | { timeZone: string },
): Promise<void> {
  await db.invite.updateMany({ where: { organizationId, id, linkVersion }, data })
}
