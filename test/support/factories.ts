import { v7 as uuidv7 } from 'uuid'
import type { Db } from '../../src/db/client.ts'
import { noApiKeyCache } from '../../src/domain/api-keys/api-key-cache.ts'
import { createApiKey } from '../../src/domain/api-keys/api-keys.ts'
import type { Deps, KeyMode, ServiceContext, Tier } from '../../src/domain/context.ts'
import { caseKey, nameKeys, searchKey, userKeys } from '../../src/domain/text/fold-text.ts'
import type { Prisma } from '../../src/generated/prisma/client.ts'

export const DAY_MS = 86_400_000
/** An id that belongs to no row. */
export const unknownId = '01900000-0000-7000-8000-000000000000'

export type Factories = ReturnType<typeof factories>

/** Returns a minimal context that can only create rows in a database. */
export const systemOn = (db: Db): ServiceContext => ({
  actor: { kind: 'system' },
  db,
  deps: { newId: () => uuidv7(), clock: () => new Date(), apiKeyCache: noApiKeyCache } as Deps,
})

/** Creates rows with sensible defaults; a test sets only the fields that matter to it. Every test creates its own organization. */
export function factories(system: ServiceContext) {
  const { db, deps } = system
  const { newId, clock } = deps
  const times = () => ({ createdAt: clock(), updatedAt: clock() })
  let count = 0
  const unique = (word: string) => `${word} ${++count}-${newId().slice(-6)}`

  const organization = async ({ tier = 'standard' as Tier, mode = 'live' as KeyMode } = {}) => {
    const name = unique('Organization')
    const { id } = await db.organization.create({ data: { id: newId(), name, nameKey: caseKey(name), tier, ...times() } })
    const { key, apiKey } = await createApiKey(system, { organizationId: id, name: 'Test', mode })
    return { id, name, key, apiKeyId: apiKey.id }
  }

  const member = async (
    organizationId: string,
    {
      email = `${unique('member').replace(' ', '')}@example.com`,
      firstName = 'Ada',
      lastName = 'Member',
      avatarUrl = '',
      ...data
    }: Partial<Prisma.UserUncheckedCreateInput & Prisma.MemberUncheckedCreateInput> = {},
  ) => {
    const person = { email, firstName, lastName }
    const user = await db.user.create({ data: { id: newId(), ...person, ...userKeys(person), avatarUrl, ...times() } })
    return db.member.create({
      data: { id: newId(), organizationId, userId: user.id, email, roles: ['grader'], joinedAt: clock(), ...times(), ...data },
      include: { user: true },
    })
  }

  const assessment = (
    organizationId: string,
    { name = unique('Assessment'), ...data }: Partial<Prisma.AssessmentUncheckedCreateInput> = {},
  ) =>
    db.assessment.create({
      data: { id: newId(), organizationId, name, skillTypes: [], ...times(), ...data, ...nameKeys(name) },
    })

  const question = (of: { organizationId: string; id: string }, data: Partial<Prisma.QuestionUncheckedCreateInput> = {}) =>
    db.question.create({
      data: {
        id: newId(),
        organizationId: of.organizationId,
        assessmentId: of.id,
        order: ++count,
        inputType: 'text',
        responseType: 'text',
        ...times(),
        ...data,
      },
    })

  const tag = (organizationId: string, { name = unique('Tag'), ...data }: Partial<Prisma.TagUncheckedCreateInput> = {}) =>
    db.tag.create({ data: { id: newId(), organizationId, name, color: '#2563EB', ...times(), ...data, ...nameKeys(name) } })

  /** Creates only the row, and queues no mail. */
  const invite = (of: { organizationId: string; id: string }, data: Partial<Prisma.InviteUncheckedCreateInput> = {}) =>
    db.invite.create({
      data: {
        id: newId(),
        organizationId: of.organizationId,
        assessmentId: of.id,
        recipientEmail: `${unique('candidate').replace(' ', '')}@example.com`,
        recipientNameSearch: data.recipientName ? searchKey(data.recipientName) : null,
        status: 'pending',
        questionReplayLimit: 1,
        answerRecordLimit: 1,
        screenRecording: true,
        webcamMonitoring: true,
        requireIdCapture: true,
        facePhotoRequired: true,
        sentAt: clock(),
        expiresAt: new Date(clock().getTime() + 30 * DAY_MS),
        ...times(),
        ...data,
      },
    })

  const language = async (code: string) =>
    (await db.language.findUnique({ where: { code } })) ?? db.language.create({ data: { id: newId(), code, name: code } })

  return { organization, member, assessment, question, tag, invite, language, unique }
}
