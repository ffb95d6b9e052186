import type { ServiceContext } from '../../src/domain/context.ts'
import { type NewSavedForm, saveForm } from '../../src/domain/sign-in/saved-forms.ts'

/** Saves a form of a person in a session that exists only for this. @returns the form's id. */
export async function saveFormInSession(system: ServiceContext, credentialId: string, form: NewSavedForm): Promise<string> {
  const { db, deps } = system
  const [now, sessionId] = [deps.clock(), deps.newId()]
  const { authVersion } = await db.credential.findUniqueOrThrow({ where: { id: credentialId } })
  const times = { createdAt: now, lastSeenAt: now, expiresAt: new Date(now.getTime() + 60_000) }
  const tokenHash = new Uint8Array(Buffer.from(sessionId))
  await db.session.create({ data: { id: sessionId, credentialId, authVersion, tokenHash, userAgent: '', network: '', ...times } })
  const id = await saveForm(system, { credentialId, sessionId }, form)
  await db.session.delete({ where: { id: sessionId } })
  if (id === null) throw new Error('The form was not saved')
  return id
}
