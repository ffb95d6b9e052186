import { type TObject, type TProperties, Type } from '@sinclair/typebox'
import { INVITE_STATUSES } from '../../domain/invites/invites.ts'
import { MAX_PAGE_SIZE } from '../../domain/limits.ts'
import { SUBMISSION_STATES } from '../../domain/submissions/reading/list-submissions.ts'
import { isUuid } from '../../domain/text/uuid.ts'

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
  limit: optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE, description: 'Entries of a page' })),
}
const oneOf = (values: readonly string[], description: string) =>
  optional(Type.Unsafe<string>({ type: 'string', enum: values, description }))
const inputOf = (properties: TProperties) => Type.Object(properties, { additionalProperties: false })

/** All tools. None of them writes. */
export const tools: readonly Tool[] = [
  {
    name: 'list_assessments',
    title: 'List assessments',
    description: 'Lists the assessments of the organization.',
    input: inputOf(page),
    path: '/assessments',
  },
  {
    name: 'get_assessment',
    title: 'Get an assessment',
    description: 'Returns one assessment: languages, formats, number of questions, points.',
    input: inputOf({ assessmentId: id('assessment') }),
    path: '/assessments/{assessmentId}',
  },
  {
    name: 'list_questions',
    title: 'List questions',
    description: 'Lists the questions of an assessment, without the correct answers.',
    input: inputOf({ assessmentId: id('assessment'), ...page }),
    path: '/assessments/{assessmentId}/questions',
  },
  {
    name: 'list_invites',
    title: 'List invites',
    description:
      'Lists invites of candidates, the newest first, with their status. Candidates who have not started are pending or accepted: two calls.',
    input: inputOf({
      assessmentId: optional(id('assessment')),
      status: oneOf(INVITE_STATUSES, 'revoked: by the organization, or declined by the candidate'),
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
    input: inputOf({ inviteId: id('invite') }),
    path: '/invites/{inviteId}',
  },
  {
    name: 'list_invite_emails',
    title: 'List the mails of an invite',
    description: 'Lists the mails about an invite, and whether they arrived.',
    input: inputOf({ inviteId: id('invite') }),
    path: '/invites/{inviteId}/messages',
  },
  {
    name: 'list_submissions',
    title: 'List submissions',
    description:
      'Lists submissions by state, with points once they are released. For the names of candidates, list the invites, too: inviteId is in both.',
    input: inputOf({
      assessmentId: optional(id('assessment')),
      state: oneOf(SUBMISSION_STATES, 'submitted: waits to be graded'),
      ...page,
    }),
    path: '/submissions',
  },
  {
    name: 'get_submission',
    title: 'Get a submission',
    description: 'Returns the answers of a candidate, and the result once it is released.',
    input: inputOf({ inviteId: id('invite') }),
    path: '/invites/{inviteId}/submission',
  },
  {
    name: 'list_members',
    title: 'List members',
    description: 'Lists the people who work in the organization.',
    input: inputOf(page),
    path: '/members',
  },
  {
    name: 'list_tags',
    title: 'List tags',
    description: 'Lists the tags of assessments, invites, and members.',
    input: inputOf(page),
    path: '/tags',
  },
]

/** @returns what is wrong with the arguments, apart from what v1 checks; undefined if nothing is. */
export function findArgumentProblem({ name, input }: Tool, args: Record<string, unknown>): string | undefined {
  const names = Object.keys(input.properties)
  const unknown = Object.keys(args).find((given) => !names.includes(given))
  if (unknown !== undefined) return `${name} has no argument ${JSON.stringify(unknown)}. It has: ${names.join(', ')}.`
  for (const required of input.required ?? []) {
    if (args[required] === undefined) return `${required} is required.`
    if (typeof args[required] !== 'string' || !isUuid(args[required])) return `${required} must be an id from a list, a UUID.`
  }
  const nested = names.find((given) => typeof args[given] === 'object' && args[given] !== null)
  return nested && `${nested} must be a single value.`
}

/** Address of an operation. @param args without {@link findArgumentProblem problems}. */
export function addressOf({ path }: Tool, args: Record<string, unknown>): string {
  const queryArgs = { ...args }
  const filledPath = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    delete queryArgs[name]
    return encodeURIComponent(String(args[name]))
  })
  const query = Object.entries(queryArgs).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === null ? [] : [[name, String(value)]],
  )
  return query.length === 0 ? filledPath : `${filledPath}?${new URLSearchParams(query)}`
}
