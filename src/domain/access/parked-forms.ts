import { everyones } from '../../db/everyone.ts'
import { among, own } from '../../db/own.ts'
import { all, run } from '../../db/statements.ts'
import type { Context, ServiceContext } from '../context.ts'
import { open, seal } from '../secrets/seal.ts'
import { inTransaction } from '../transaction.ts'
import { isUuid } from '../values/uuid.ts'
import { holdCredential } from './factors.ts'
import { hashToken } from './session-tokens.ts'
import type { SignedIn } from './sessions.ts'
import { mayPark } from './sign-in-attempts.ts'

/** Milliseconds for which a form is kept, and within which a session has to have ended for what was being filled in. */
const KEPT_FOR_MS = 86_400_000
/** Of one person at a time: with another, the oldest goes. */
const MOST_PARKED = 5
/** What is given to this page alone, and never kept. */
const NEVER_KEPT: readonly string[] = ['password', 'current', 'code']

/**
 * A form that met a closed door.
 *
 * @property url the path that it was sent to, with what follows it. @property fields what was typed, in its order.
 * @property isMultipart how it was sent. @property page the address of the page that it was on, where the browser has said it.
 * @property isIncomplete whether there was more: a password, a code or a file, which are not kept.
 */
export type FormToPark = {
  url: string
  fields: readonly (readonly [name: string, value: string])[]
  isMultipart: boolean
  page: string | null
  isIncomplete: boolean
}

/** @property isUsed whether it was sent since. */
export type ParkedForm = Omit<FormToPark, 'url'> & { id: string; url: string; isUsed: boolean }

/** Whose session a token was of that ended within a day, by itself or otherwise; null: of none. */
export async function findOwnerOfEnded({ db, deps }: ServiceContext, token: string): Promise<string | null> {
  const found = await db.session.findUnique({
    where: { tokenHash: hashToken(token) },
    select: { credentialId: true, endedAt: true, expiresAt: true },
  })
  const now = deps.clock()
  if (!found || (found.endedAt === null && found.expiresAt > now)) return null
  return now.getTime() - found.expiresAt.getTime() < KEPT_FOR_MS ? found.credentialId : null
}

const purposeOf = (id: string): string => `parked form ${id}`

/**
 * Keeps a form for its owner, sealed, for a day. It does nothing by itself.
 *
 * @returns null where too many were kept of late, or the account is gone.
 */
export async function parkForm(service: ServiceContext, credentialId: string, form: FormToPark): Promise<string | null> {
  if (!(await mayPark(service, credentialId))) return null
  const { url, ...rest } = form
  const fields = form.fields.filter(([name]) => !NEVER_KEPT.includes(name))
  const isIncomplete = form.isIncomplete || fields.length < form.fields.length
  const id = service.deps.newId()
  const now = service.deps.clock()
  const body = seal(service.deps.secretKeys, purposeOf(id), JSON.stringify({ ...rest, fields, isIncomplete }))
  return inTransaction(service, async (inside) => {
    if (!(await holdCredential(inside, credentialId))) return null
    const { db } = inside
    const endsAt = new Date(now.getTime() + KEPT_FOR_MS)
    await db.parkedForm.create({ data: { id, credentialId, url, body, createdAt: now, endsAt } })
    const theirs = everyones.selectFrom('parkedForms').select('id').where('credentialId', '=', credentialId)
    const excess = theirs.orderBy('createdAt', 'desc').orderBy('id', 'desc').offset(MOST_PARKED)
    await run(db, everyones.deleteFrom('parkedForms').where('id', 'in', excess))
    return id
  })
}

/** A form of whoever is signed in; null for nobody's and for somebody else's. */
export async function findParkedForm(
  { db, deps }: ServiceContext,
  { credential }: SignedIn,
  id: string,
): Promise<ParkedForm | null> {
  if (!isUuid(id)) return null
  const found = await db.parkedForm.findUnique({ where: { id, credentialId: credential.id, endsAt: { gt: deps.clock() } } })
  const text = found && open(deps.secretKeys, purposeOf(id), found.body)
  if (!text) return null
  return { ...(JSON.parse(text) as Omit<FormToPark, 'url'>), id, url: found.url, isUsed: found.usedAt !== null }
}

/** Takes a form as sent: of those who send it at once, one. @returns whether it was this one. */
export async function claimParkedForm({ db, deps }: ServiceContext, { credential }: SignedIn, id: string): Promise<boolean> {
  if (!isUuid(id)) return false
  const now = deps.clock()
  const open = { id, credentialId: credential.id, usedAt: null, endsAt: { gt: now } }
  const { count } = await db.parkedForm.updateMany({ where: open, data: { usedAt: now } })
  return count === 1
}

/**
 * Deletes forms of the organization's pages whose fields or address name somebody.
 *
 * @param isAbout is true for a text that names them.
 * @param replace takes them out of a text: with it, a form is kept that names them in its fields only.
 * @returns how many were deleted or changed.
 */
export async function forgetParkedForms(
  { db, deps, organization }: Context,
  isAbout: (text: string) => boolean,
  replace?: (text: string) => string,
): Promise<number> {
  const members = own({ organization }, 'members').where('credentialId', 'is not', null).select('credentialId')
  const theirs = everyones.selectFrom('parkedForms').select(['id', 'url', 'body']).where('credentialId', 'in', members)
  const parked = await all(db, theirs)
  const about = parked.filter(({ id, url, body }) => {
    if (!url.includes(organization.id)) return false
    return isAbout(url) || isAbout(open(deps.secretKeys, purposeOf(id), body) ?? '')
  })
  const deleted: string[] = []
  for (const { id, url, body } of about) {
    const text = open(deps.secretKeys, purposeOf(id), body)
    if (!replace || !text || isAbout(url)) deleted.push(id)
    else
      await db.parkedForm.updateMany({
        where: { id },
        data: { body: seal(deps.secretKeys, purposeOf(id), rewrite(text, replace)) },
      })
  }
  if (deleted.length > 0) await run(db, everyones.deleteFrom('parkedForms').where('id', '=', among(deleted)))
  return about.length
}

function rewrite(text: string, replace: (text: string) => string): string {
  const { fields, page, ...rest } = JSON.parse(text) as Omit<FormToPark, 'url'>
  const rewritten = { ...rest, page: page && replace(page), fields: fields.map(([name, value]) => [name, replace(value)]) }
  return JSON.stringify(rewritten)
}

/** Takes that back: the service could not do what the form asks for. */
export async function releaseParkedForm({ db }: ServiceContext, { credential }: SignedIn, id: string): Promise<void> {
  await db.parkedForm.updateMany({ where: { id, credentialId: credential.id }, data: { usedAt: null } })
}
