import { type TObject, Type } from '@sinclair/typebox'

/**
 * A tool of an assistant: a read operation of v1.
 *
 * @property path of the operation, with its parameters in braces; the other inputs become its query.
 */
export type Tool = { name: string; title: string; description: string; input: TObject; path: string }

const id = (noun: string) => Type.String({ format: 'uuid', description: `Id of the ${noun}` })
const optional = Type.Optional
const page = {
  page: optional(Type.Integer({ minimum: 1, description: 'Page, from 1' })),
  pageSize: optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Entries of a page' })),
}
const STATUSES = 'pending, accepted, started, completed, expired, revoked, or declined'

/** All tools. None of them writes. */
export const tools: readonly Tool[] = [
  {
    name: 'list_assessments',
    title: 'List assessments',
    description: 'Lists the assessments of the organization.',
    input: Type.Object(page),
    path: '/assessments',
  },
  {
    name: 'get_assessment',
    title: 'Get an assessment',
    description: 'Returns one assessment: languages, formats, number of questions, points.',
    input: Type.Object({ assessmentId: id('assessment') }),
    path: '/assessments/{assessmentId}',
  },
  {
    name: 'list_questions',
    title: 'List questions',
    description: 'Lists the questions of an assessment, without their answers.',
    input: Type.Object({ assessmentId: id('assessment'), ...page }),
    path: '/assessments/{assessmentId}/questions',
  },
  {
    name: 'list_invites',
    title: 'List invites',
    description: 'Lists invites of candidates, the newest first, with their state.',
    input: Type.Object({
      assessmentId: optional(id('assessment')),
      status: optional(Type.String({ description: STATUSES })),
      recipientEmail: optional(Type.String({ description: 'Email address of the candidate' })),
      recipient: optional(Type.String({ description: 'Words of the name or address' })),
      ...page,
    }),
    path: '/invites',
  },
  {
    name: 'get_invite',
    title: 'Get an invite',
    description: 'Returns one invite with its state and times.',
    input: Type.Object({ inviteId: id('invite') }),
    path: '/invites/{inviteId}',
  },
  {
    name: 'list_invite_emails',
    title: 'List the mails of an invite',
    description: 'Lists the mails about an invite, and whether they arrived.',
    input: Type.Object({ inviteId: id('invite') }),
    path: '/invites/{inviteId}/messages',
  },
  {
    name: 'list_submissions',
    title: 'List submissions',
    description: 'Lists submissions of candidates by state, with points once they are released.',
    input: Type.Object({
      assessmentId: optional(id('assessment')),
      state: optional(Type.String({ description: 'preparing, in_progress, submitted, released, or withdrawn' })),
      ...page,
    }),
    path: '/submissions',
  },
  {
    name: 'get_submission',
    title: 'Get a submission',
    description: 'Returns the answers of a candidate, and the result once it is released.',
    input: Type.Object({ inviteId: id('invite') }),
    path: '/invites/{inviteId}/submission',
  },
  {
    name: 'list_members',
    title: 'List members',
    description: 'Lists the people who work in the organization.',
    input: Type.Object(page),
    path: '/members',
  },
  {
    name: 'list_tags',
    title: 'List tags',
    description: 'Lists the tags of assessments, invites, and members.',
    input: Type.Object(page),
    path: '/tags',
  },
]

/** Address of an operation. @throws RangeError with the name of a missing parameter. */
export function addressOf({ path }: Tool, args: Record<string, unknown>): string {
  const queryArgs = { ...args }
  const filledPath = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = queryArgs[name]
    delete queryArgs[name]
    if (typeof value !== 'string' || value === '') throw new RangeError(name)
    return encodeURIComponent(value)
  })
  const query = Object.entries(queryArgs).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === null ? [] : [[name, String(value)]],
  )
  return query.length === 0 ? filledPath : `${filledPath}?${new URLSearchParams(query)}`
}
