import { v7 as newId } from 'uuid'
import type { Db } from '../../src/db/client.ts'

type Fields = Record<string, unknown>

let count = 0

/** Returns a unique name for an organization. */
export const uniqueName = (): string => `Organization ${++count} of ${newId()}`

/** A document with one organization that has the given fields. */
export const documentOf = (organization: Fields = {}) => ({ organizations: [{ name: uniqueName(), ...organization }] })

/** A document with one organization that has rows of every kind, with all possible references between them. */
export function fullDocument() {
  const [category, instruction, member, tag, assessment] = [newId(), newId(), newId(), newId(), newId()]
  const times = { createdAt: '2026-02-01T10:00:00.000Z', updatedAt: '2026-02-20T16:45:00.000Z' }
  return documentOf({
    tier: 'enterprise',
    languages: [{ code: 'en', name: 'English' }],
    categories: [{ id: category, name: 'Engineering' }],
    instructions: [{ id: instruction, title: 'Before you begin', body: 'Find a quiet place.' }],
    apiKeys: [{ name: 'ATS', mode: 'test', expiresAt: '2030-01-01T00:00:00.000Z', createdById: member }],
    tags: [{ id: tag, name: 'Sales', color: '#2563EB', description: 'Sells', icon: 'star', createdById: member, ...times }],
    members: [
      {
        id: member,
        firstName: 'Maya',
        lastName: 'Okafor',
        email: 'Maya.Okafor@example.com',
        avatarUrl: 'https://media.example.com/maya.png',
        roles: ['grader', 'admin'],
        status: 'inactive',
        department: 'Talent',
        joinedAt: '2026-01-15T08:00:00.000Z',
        canViewTranscription: true,
        gradingLanguages: ['de', 'en'],
        tagIds: [tag],
        ...times,
      },
    ],
    assessments: [
      {
        id: assessment,
        name: 'Spoken English',
        defaultQuestionFormat: 'audio',
        defaultAnswerFormat: 'mixed',
        audience: 'public',
        timeLimit: 1800,
        instructionId: instruction,
        languages: ['fr', 'en'],
        categoryIds: [category],
        skillTypes: ['listening', 'speaking'],
        clientIds: [member],
        tagIds: [tag],
        createdById: member,
        ...times,
        questions: [
          {
            order: 1,
            inputType: 'audio',
            script: 'Hello?',
            audioUrl: 'https://media.example.com/1.mp3',
            videoUrl: '',
            responseType: 'video',
            points: 10,
            timeLimit: 90,
            preparationTime: 30,
            sourceLanguage: 'en',
            targetLanguage: '',
            ...times,
          },
          { order: 2, inputType: 'text', responseType: 'text', points: 5 },
        ],
      },
    ],
    invites: [
      {
        assessmentId: assessment,
        recipientEmail: 'Candidate@example.com',
        recipientName: 'Sam Rivera',
        status: 'completed',
        questionReplayLimit: 3,
        answerRecordLimit: 2,
        proctoringSettings: { screenRecording: false, webcamMonitoring: true, requireIdCapture: false },
        facePhotoRequired: true,
        customMessage: 'Welcome',
        sentAt: '2026-03-01T10:00:00.000Z',
        expiresAt: '2026-04-01T10:00:00.000Z',
        acceptedAt: '2026-03-02T10:00:00.000Z',
        startedAt: '2026-03-03T10:00:00.000Z',
        completedAt: '2026-03-03T11:00:00.000Z',
        revokedAt: null,
        assignedGraderId: member,
        tagIds: [tag],
        createdById: member,
        ...times,
      },
    ],
  })
}

const TABLES = [
  ...['organizations', 'api_keys', 'users', 'members', 'languages', 'categories', 'instructions', 'tags', 'assessments'],
  ...['questions', 'invites', 'invite_emails', 'assessment_languages', 'assessment_categories', 'assessment_clients'],
  ...['assessment_tags', 'member_tags', 'member_grading_languages', 'invite_tags'],
]

/** Dumps all tables that an import can write, for a later comparison. */
export async function dumpDatabase(db: Db): Promise<unknown> {
  const dumps = TABLES.map(async (name) => {
    const rows = await db.$queryRawUnsafe(`SELECT jsonb_agg(t ORDER BY t::text) AS rows FROM ${name} t`)
    return [name, rows]
  })
  return Object.fromEntries(await Promise.all(dumps))
}
