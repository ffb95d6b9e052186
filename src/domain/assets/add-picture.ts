import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError, type Issue } from '../errors.ts'
import { MAX_PICTURE_BYTES, MAX_PICTURE_SIDE } from '../limits.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { readPicture } from './picture-file.ts'
import { storeFile } from './store-file.ts'

/**
 * Stores a picture for questions, or finds the stored one with the same content.
 *
 * @returns its id.
 * @throws DomainError not_permitted; invalid, at `picture`: too large, no picture, or no space.
 */
export async function addPicture(ctx: Context, file: Buffer): Promise<string> {
  authorize(ctx, 'write_assessments')
  const picture = file.length <= MAX_PICTURE_BYTES ? readPicture(file) : null
  if (!picture) throw new DomainError('invalid', { issues: [issue(file.length > MAX_PICTURE_BYTES ? TOO_LARGE : NO_PICTURE)] })
  if (Math.max(picture.width, picture.height) > MAX_PICTURE_SIDE) throwIfIssues([issue(TOO_WIDE)])
  const asset = await storeFile(ctx, 'image', picture)
  if (!asset) throw new DomainError('invalid', { issues: [issue(NO_ROOM)] })
  return asset.id
}

const issue = (text: string): Issue => ({ field: 'picture', rule: 'malformed', text })

const TOO_LARGE = `A picture can have at most ${MAX_PICTURE_BYTES / 1e6} MB. Make it smaller first.`
const TOO_WIDE = `A picture can be at most ${MAX_PICTURE_SIDE.toLocaleString('en')} pixels wide and high. Make it smaller first.`
const NO_PICTURE = 'This file is not a whole picture. Choose a PNG, JPEG, WebP or GIF.'
const NO_ROOM = 'There is no space for more pictures and recordings. Ask the operator of this service.'
