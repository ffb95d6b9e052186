import { anyOfIds } from '../../db/queries.ts'
import { unscoped } from '../../db/unscoped.ts'
import type { Context, ServiceContext } from '../context.ts'
import { decrypt, encrypt } from '../secrets/encryption.ts'
import { isUuid } from '../text/uuid.ts'
import { inTransaction } from '../transaction.ts'
import { lockCredential } from './credential-lock.ts'
import { type Browser, findDeviceId } from './devices.ts'
import { hashToken } from './session-tokens.ts'
import type { SignedIn } from './sessions.ts'
import { maySaveForm } from './sign-in-attempts.ts'

/** Milliseconds that a form is kept, and after the end of a session during which its forms are saved. */
const KEPT_FOR_MS = 86_400_000
/** Saved forms of one person; another one replaces the oldest. */
const MAX_SAVED_FORMS = 5
/** Fields that are never saved. */
const UNSAVED_FIELDS: readonly string[] = ['password', 'current', 'code']

/**
 * A form sent after the session ended, or without a recent authentication.
 *
 * @property url path and query that the form was sent to. @property page address of the form's page, if the browser sent it.
 * @property isIncomplete true if passwords, codes, or files were removed.
 */
export type NewSavedForm = {
  url: string
  fields: readonly (readonly [name: string, value: string])[]
  isMultipart: boolean
  page: string | null
  isIncomplete: boolean
}

/** @property isUsed true if the form was sent since. */
export type SavedForm = Omit<NewSavedForm, 'url'> & { id: string; url: string; isUsed: boolean }

type EncryptedForm = Omit<NewSavedForm, 'url'> & { deviceId: string | null }

/** Account and session that a form was sent in. */
export type FormOwner = { credentialId: string; sessionId: string }

/** Ends of a session after which the cookie still proves its owner. Null: it expired. */
const RESUMABLE_END_REASONS: readonly (string | null)[] = [null, 'too_many', 'no_membership', 'ended_at_provider']

/** Person whose session ended within a day; null if no forms may be saved. */
export async function findOwnerOfEndedSession(service: ServiceContext, token: string): Promise<FormOwner | null> {
  const found = await service.db.session.findUnique({ where: { tokenHash: hashToken(token) }, include: { credential: true } })
  if (!found || (found.endedAt === null && found.expiresAt > service.deps.clock())) return null
  return maySaveFormsOf(service, found, found.credential) ? { credentialId: found.credentialId, sessionId: found.id } : null
}

/** True if the session is open or ended for one of RESUMABLE_END_REASONS, and the account's password and factors are unchanged. */
function maySaveFormsOf(
  { deps }: ServiceContext,
  session: { authVersion: number; endReason: string | null; expiresAt: Date },
  credential: { authVersion: number },
): boolean {
  const isRecent = deps.clock().getTime() - session.expiresAt.getTime() < KEPT_FOR_MS
  return isRecent && session.authVersion === credential.authVersion && RESUMABLE_END_REASONS.includes(session.endReason)
}

const purposeOf = (id: string): string => `saved form ${id}`

/**
 * Stores a form for its owner, encrypted, for a day, without performing it. Checks the session again, because it may have ended while the body
 * was read.
 *
 * @returns null if too many forms were saved recently, or if the session may save none.
 */
export async function saveForm(
  service: ServiceContext,
  { credentialId, sessionId }: FormOwner,
  form: NewSavedForm,
  browser: Pick<Browser, 'device'> = {},
): Promise<string | null> {
  if (!(await maySaveForm(service, credentialId))) return null
  const { url, ...formWithoutUrl } = form
  const fields = form.fields.filter(([name]) => !UNSAVED_FIELDS.includes(name))
  const isIncomplete = form.isIncomplete || fields.length < form.fields.length
  const id = service.deps.newId()
  const now = service.deps.clock()
  const deviceId = await findDeviceId(service, credentialId, browser)
  const sealed: EncryptedForm = { ...formWithoutUrl, fields, isIncomplete, deviceId }
  const body = encrypt(service.deps.secretKeys, purposeOf(id), JSON.stringify(sealed))
  return inTransaction(service, async (inside) => {
    const { db } = inside
    const credential = await lockCredential(inside, credentialId)
    const session = credential && (await db.session.findUnique({ where: { id: sessionId } }))
    if (!session || !maySaveFormsOf(inside, session, credential)) return null
    const expiresAt = new Date(now.getTime() + KEPT_FOR_MS)
    await db.savedForm.create({ data: { id, credentialId, url, body, createdAt: now, expiresAt } })
    const forms = unscoped(db).selectFrom('savedForms').select('id').where('credentialId', '=', credentialId)
    const excess = forms.orderBy('createdAt', 'desc').orderBy('id', 'desc').offset(MAX_SAVED_FORMS)
    await unscoped(db).deleteFrom('savedForms').where('id', 'in', excess).execute()
    return id
  })
}

/** A form that the signed-in person saved in this browser; null for any other. */
export async function findSavedForm(
  service: ServiceContext,
  { credential }: SignedIn,
  id: string,
  browser: Pick<Browser, 'device'>,
): Promise<SavedForm | null> {
  const { db, deps } = service
  if (!isUuid(id)) return null
  const found = await db.savedForm.findUnique({ where: { id, credentialId: credential.id, expiresAt: { gt: deps.clock() } } })
  const text = found && decrypt(deps.secretKeys, purposeOf(id), found.body)
  if (!text) return null
  const { deviceId, ...form } = JSON.parse(text) as EncryptedForm
  if (deviceId !== (await findDeviceId(service, credential.id, browser))) return null
  return { ...form, id, url: found.url, isUsed: found.usedAt !== null }
}

/** Marks a form as sent. @returns true for one of several simultaneous attempts. */
export async function claimSavedForm(
  service: ServiceContext,
  signedIn: SignedIn,
  id: string,
  browser: Pick<Browser, 'device'>,
): Promise<boolean> {
  if (!(await findSavedForm(service, signedIn, id, browser))) return false
  const { db, deps } = service
  const { credential } = signedIn
  const now = deps.clock()
  const where = { id, credentialId: credential.id, usedAt: null, expiresAt: { gt: now } }
  const { count } = await db.savedForm.updateMany({ where, data: { usedAt: now } })
  return count === 1
}

/**
 * Erases a person from the saved forms of the organization's pages.
 *
 * @param isAbout true for a text that names the person.
 * @param replace removes the person from a text. With it, forms that name them only in fields are rewritten instead of deleted.
 * @returns number of deleted and rewritten forms.
 */
export async function purgeSavedForms(
  { db, deps, organization }: Context,
  isAbout: (text: string) => boolean,
  replace?: (text: string) => string,
): Promise<number> {
  const members = db.selectFrom('members').where('credentialId', 'is not', null).select('credentialId')
  const rows = await unscoped(db)
    .selectFrom('savedForms')
    .select(['id', 'url', 'body'])
    .where('credentialId', 'in', members)
    .execute()
  const forms = rows
    .filter(({ url }) => url.includes(organization.id))
    .map(({ id, url, body }) => ({ id, url, text: decrypt(deps.secretKeys, purposeOf(id), body) ?? '' }))
    .filter(({ url, text }) => isAbout(url) || isAbout(text))
  const deleted: string[] = []
  for (const { id, url, text } of forms) {
    if (!replace || text === '' || isAbout(url)) deleted.push(id)
    else {
      const body = encrypt(deps.secretKeys, purposeOf(id), replaceInForm(text, replace))
      await db.savedForm.updateMany({ where: { id }, data: { body } })
    }
  }
  if (deleted.length > 0) await unscoped(db).deleteFrom('savedForms').where('id', '=', anyOfIds(deleted)).execute()
  return forms.length
}

function replaceInForm(text: string, replace: (text: string) => string): string {
  const { fields, page, ...otherFields } = JSON.parse(text) as EncryptedForm
  const rewritten = { ...otherFields, page: page && replace(page), fields: fields.map(([name, value]) => [name, replace(value)]) }
  return JSON.stringify(rewritten)
}

/** Reverts {@link claimSavedForm} after a failure of the service. */
export async function releaseSavedForm({ db }: ServiceContext, { credential }: SignedIn, id: string): Promise<void> {
  await db.savedForm.updateMany({ where: { id, credentialId: credential.id }, data: { usedAt: null } })
}
