import type { Context } from '../context.ts'
import type { SpeakingOrganization } from '../values/languages.ts'

/** What decides the language of an organization's candidates, and where its times are, for whoever acts in it. */
export const languagesOf = ({ db, organization: { id } }: Context): Promise<SpeakingOrganization & { timeZone: string }> =>
  db.organization.findUniqueOrThrow({ where: { id }, select: { language: true, languagesOffered: true, timeZone: true } })
