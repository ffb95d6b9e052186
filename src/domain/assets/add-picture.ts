import { createHash } from 'node:crypto'
import { authorize } from '../access/permissions.ts'
import { refuse } from '../checking/refuse.ts'
import type { Context } from '../context.ts'
import { DomainError, type Issue } from '../errors.ts'
import { MAX_PICTURE_BYTES, MAX_PICTURE_SIDE } from '../limits.ts'
import { fileOf, newMediaKey } from '../values/media-keys.ts'
import { readPicture } from './picture-file.ts'
import { lacksRoom } from './room.ts'

/**
 * Keeps a picture for questions; one that is there already is found, and not kept twice. Its row is there before its file, so that what a
 * crash leaves is found.
 *
 * @returns its id.
 * @throws DomainError not_permitted; invalid, at `picture`: too large, no picture, or no room for it.
 */
export async function addPicture(ctx: Context, file: Buffer): Promise<string> {
  authorize(ctx, 'write_assessments')
  const { actor, db, deps, organization } = ctx
  const picture = file.length <= MAX_PICTURE_BYTES ? readPicture(file) : null
  if (!picture) throw new DomainError('invalid', { issues: [issue(file.length > MAX_PICTURE_BYTES ? TOO_LARGE : NO_PICTURE)] })
  const { content, contentType, width, height } = picture
  if (Math.max(width, height) > MAX_PICTURE_SIDE) refuse([issue(TOO_WIDE)])
  const sha256 = new Uint8Array(createHash('sha256').update(content).digest())
  const own = { organizationId: organization.id }
  const there = await db.asset.findFirst({ where: { ...own, sha256, kind: 'image', state: 'ready' }, orderBy: { id: 'asc' } })
  if (there) return there.id
  if (await lacksRoom(ctx, content.length)) refuse([issue(NO_ROOM)])
  const [id, now] = [deps.newId(), deps.clock()]
  const key = newMediaKey(organization)
  const createdById = actor.kind === 'member' ? actor.id : null
  const facts = { contentType, width, height, sha256, bytes: content.length }
  await db.asset.create({
    data: { ...own, id, kind: 'image', state: 'uploading', key, ...facts, createdById, createdAt: now, checkedAt: now },
  })
  await deps.media.put(fileOf(key), content)
  await db.asset.updateMany({ where: { ...own, id }, data: { state: 'ready', completedAt: deps.clock() } })
  return id
}

const issue = (text: string): Issue => ({ field: 'picture', rule: 'malformed', text })

const TOO_LARGE = `A picture can have at most ${MAX_PICTURE_BYTES / 1e6} MB. Make it smaller first.`
const TOO_WIDE = `A picture can be at most ${MAX_PICTURE_SIDE.toLocaleString('en')} pixels wide and high. Make it smaller first.`
const NO_PICTURE = 'This file is not a whole picture. Choose a PNG, JPEG, WebP or GIF.'
const NO_ROOM = 'There is no room for more pictures and recordings. Ask whoever runs the service.'
