import { sql } from '../../db/builder.ts'
import { scopeWhere } from '../../db/queries.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context, ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { MAX_NAME_LENGTH } from '../limits.ts'
import { isUuid } from '../text/uuid.ts'
import { DAY_MS } from '../time/days.ts'
import { truncateText } from '../validation/uploaded-files.ts'

// Uploaded files whose columns a member has not confirmed yet, and the column meanings that members confirmed before.

export type ImportKind = 'questions' | 'candidates'

/**
 * Choices of the person who imports a file. @property columns meaning of each column; empty for one that is not used. @property headingLine line of the headings; 0 for
 * none.
 */
export type ImportChoices = {
  encoding?: string
  delimiter?: string
  sheet?: string
  headingLine?: number
  columns?: string[]
}
/** @property form fields of the form that it was uploaded with, url-encoded. */
export type ImportFile = {
  id: string
  kind: ImportKind
  fileName: string
  bytes: Uint8Array
  choices: ImportChoices
  form: string
}

/** Unconfirmed files per member. An older one is deleted. */
const MAX_FILES = 4
/** Bytes of a file that one statement reads. */
const PIECE_BYTES = 1024 * 1024
/** Meanings that an organization has, by kind. */
const MAX_MAPPINGS = 2_000
const MAX_HEADING_LENGTH = 100

const RIGHTS = { questions: 'write_assessments', candidates: 'invite' } as const

/** @returns its id. @throws DomainError not_permitted. */
export async function storeImportFile(
  ctx: Context,
  { kind, fileName, bytes, form }: { kind: ImportKind; fileName: string; bytes: Uint8Array; form: string },
): Promise<string> {
  const { db, deps } = ctx
  const createdById = requireMember(ctx, kind)
  const ownFiles = { ...scopeWhere(ctx), createdById }
  const older = await db.importFile.findMany({
    where: ownFiles,
    select: { id: true },
    orderBy: { id: 'desc' },
    skip: MAX_FILES - 1,
  })
  await db.importFile.deleteMany({ where: { ...ownFiles, id: { in: older.map(({ id }) => id) } } })
  const id = deps.newId()
  // Prisma Client would keep five copies of a large file, because it sends bytes as base64.
  const file = { id, kind, fileName: truncateText(fileName, MAX_NAME_LENGTH), bytes: Buffer.from(bytes), form }
  await db
    .insertInto('importFiles')
    .values({ ...file, createdById, createdAt: deps.clock() })
    .execute()
  return id
}

function requireMember(ctx: Context, kind: ImportKind): string {
  authorize(ctx, RIGHTS[kind])
  if (ctx.actor.kind !== 'member') throw new DomainError('not_permitted')
  return ctx.actor.id
}

/** A file of the member's own. @throws DomainError not_permitted, library_import_not_found. */
export async function getImportFile(ctx: Context, id: string): Promise<ImportFile> {
  const memberId = ctx.actor.kind === 'member' ? ctx.actor.id : null
  if (!isUuid(id) || memberId === null) throw new DomainError('library_import_not_found')
  const found = await ctx.db
    .selectFrom('importFiles')
    .select((eb) => ['kind', 'fileName', 'choices', 'form', eb.fn<number>('octet_length', ['bytes']).as('length')])
    .where('id', '=', id)
    .where('createdById', '=', memberId)
    .executeTakeFirst()
  if (!found) throw new DomainError('library_import_not_found')
  const { length, ...file } = found
  const kind = file.kind as ImportKind
  requireMember(ctx, kind)
  return { ...file, id, kind, choices: file.choices as ImportChoices, bytes: await readBytes(ctx, id, length) }
}

/** Reads the file in pieces, because the driver needs seven times the memory of a row. @throws DomainError library_import_not_found. */
async function readBytes({ db }: Context, id: string, length: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafeSlow(length)
  for (let offset = 0; offset < length; offset += PIECE_BYTES) {
    const piece = await db
      .selectFrom('importFiles')
      .select((eb) => sql<Uint8Array>`substring(${eb.ref('bytes')} from ${offset + 1} for ${PIECE_BYTES})`.as('bytes'))
      .where('id', '=', id)
      .executeTakeFirst()
    if (!piece) throw new DomainError('library_import_not_found') // deleted meanwhile
    bytes.set(piece.bytes, offset)
  }
  return bytes
}

export async function saveImportChoices(ctx: Context, { id }: ImportFile, choices: ImportChoices): Promise<void> {
  const where = { ...scopeWhere(ctx), id }
  await ctx.db.importFile.updateMany({ where, data: { choices: choices as Prisma.InputJsonObject } })
}

export async function deleteImportFile(ctx: Context, { id }: ImportFile): Promise<void> {
  await ctx.db.importFile.deleteMany({ where: { ...scopeWhere(ctx), id } })
}

/** Meanings that the organization's members confirmed, by heading. */
export async function findMappings({ db, organization }: Context, kind: ImportKind): Promise<Record<string, string>> {
  const where = { organizationId: organization.id, kind }
  const found = await db.importMapping.findMany({ where, orderBy: { updatedAt: 'desc' }, take: MAX_MAPPINGS })
  return Object.fromEntries(found.map(({ heading, meaning }) => [heading, meaning]))
}

/** Remembers meanings for later files with the same headings. */
export async function rememberMappings(ctx: Context, kind: ImportKind, meanings: Record<string, string>): Promise<void> {
  const { db, deps, organization } = ctx
  const updatedAt = deps.clock()
  for (const [heading, meaning] of Object.entries(meanings)) {
    const key = { organizationId: organization.id, kind, heading: truncateText(heading, MAX_HEADING_LENGTH) }
    await db.importMapping.upsert({
      where: { organizationId_kind_heading: key },
      create: { ...key, meaning, updatedAt },
      update: { meaning, updatedAt },
    })
  }
}

/** Deletes files that nobody confirmed within a day. */
export async function deleteExpiredImportFiles({ db, deps }: ServiceContext): Promise<void> {
  await db.importFile.deleteMany({ where: { createdAt: { lte: new Date(deps.clock().getTime() - DAY_MS) } } })
}
