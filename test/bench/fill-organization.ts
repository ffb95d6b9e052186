import { v7 as uuidv7 } from 'uuid'
import { generateApiKey } from '../../src/domain/api-keys/api-keys.ts'

/** An organization's rows other than invites; their number does not depend on the number of invites. @property key API key. */
export type OrganizationRows = { id: string; key: string; keyId: string } & Record<
  'memberIds' | 'tagIds' | 'assessmentIds',
  string[]
>

const LANGUAGES = ['en', 'de', 'es', 'fr', 'pt']
const HOUR_MS = 3_600_000

export const newIds = (count: number): string[] => Array.from({ length: count }, () => uuidv7())
const two = (ids: string[], i: number) => [ids[i % ids.length]!, ids[(i + 1) % ids.length]!]
const ago = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString()

/** Returns an organization with members, tags, and assessments, and its entry in the import document. */
export function describeOrganization(name: string): { organizationRows: OrganizationRows; entry: object } {
  const [members, tags] = [newIds(200), newIds(500)]
  const [assessmentIds, categoryIds, instructionIds] = [newIds(50), newIds(10), newIds(5)]
  // Invites and assessments refer to these.
  const [memberIds, tagIds] = [members.slice(0, 20), tags.slice(0, 50)]
  const organizationRows = { id: uuidv7(), key: generateApiKey('live'), keyId: uuidv7(), memberIds, tagIds, assessmentIds }
  const entry = {
    id: organizationRows.id,
    name: `The ${name} organization`,
    tier: 'enterprise',
    categories: categoryIds.map((id, i) => ({ id, name: `Category ${i}` })),
    instructions: instructionIds.map((id) => ({ id, title: 'Before you begin', body: 'Find a quiet room, and speak clearly.' })),
    apiKeys: [{ id: organizationRows.keyId, name: 'bench', mode: 'live', key: organizationRows.key, createdById: memberIds[0] }],
    tags: tags.map((id, i) => ({
      id,
      name: `Tag ${i}`,
      color: '#2563EB',
      description: `What tag number ${i} stands for`,
      createdById: two(memberIds, i)[0],
      createdAt: ago(i),
      updatedAt: ago(i / 60),
    })),
    members: members.map((id, i) => ({
      id,
      firstName: `First ${i}`,
      lastName: `Last ${i}`,
      email: `member${i}.${name}@example.com`,
      roles: ['admin', 'grader', 'client'],
      department: 'Recruiting',
      joinedAt: ago(i),
      createdAt: ago(i),
      ...(i < memberIds.length && { gradingLanguages: two(LANGUAGES, i), tagIds: two(tagIds, i) }),
    })),
    assessments: assessmentIds.map((id, i) => ({
      id,
      name: `Assessment No${i + 1}`,
      defaultQuestionFormat: 'audio',
      defaultAnswerFormat: 'audio',
      timeLimit: 60 * i + 30,
      instructionId: two(instructionIds, i)[0],
      languages: two(LANGUAGES, i),
      categoryIds: two(categoryIds, i),
      skillTypes: ['listening', 'speaking'],
      clientIds: two(memberIds, i),
      tagIds: two(tagIds, i),
      createdById: two(memberIds, i)[0],
      createdAt: ago(24 * i),
      updatedAt: ago(i),
      // The first assessment has a large page.
      questions: Array.from({ length: i === 0 ? 100 : 20 }, (_, n) => ({
        order: n + 1,
        inputType: 'audio',
        script: `What would you say to question ${n}?`,
        responseType: 'audio',
        points: 10,
      })),
    })),
  }
  return { organizationRows, entry }
}
