import { INVITE_SOURCES } from '../../../domain/authorization/author.ts'
import { authorize, may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { DomainError } from '../../../domain/errors.ts'
import { omitUndefined } from '../../../domain/fields/omit-undefined.ts'
import { getBatch, listBatches } from '../../../domain/invites/batches/batches.ts'
import {
  type Choice,
  listAssessmentChoices,
  listClientAssessments,
  listGraderChoices,
  listTagChoices,
} from '../../../domain/invites/form-options.ts'
import { INVITE_STATUSES } from '../../../domain/invites/invites.ts'
import type { InviteFilter, ListPart } from '../../../domain/invites/listing/invite-filter.ts'
import type { FilterInput } from '../../../domain/lists/filters.ts'
import { ERASED_MEMBER } from '../../../domain/loaders/former-members.ts'
import { findMembers } from '../../../domain/members/members.ts'
import { isUuid } from '../../../domain/text/uuid.ts'
import { isEmailAddress } from '../../../domain/validation/email-address.ts'
import { readNameFilter } from '../kit/choices.ts'
import { readFields } from '../kit/forms.ts'

/** Parameters of the list's address that filter it. */
export const FILTERS = ['state', 'search', 'assessment', 'tag', 'grader', 'source', 'list', 'part'] as const

/** Tab of undelivered invites, in the same parameter as the statuses. */
export const UNDELIVERED = 'undelivered'

const LIST_PARTS = ['invited', 'unnamed', 'closed'] as const satisfies ListPart[]

export type FilterChoices = { assessments: Choice[]; tags: Choice[]; graders: Choice[]; lists: Choice[] }

/** The options that the actor may filter by. */
export async function findFilterChoices(ctx: Context, values: URLSearchParams): Promise<FilterChoices> {
  const { assessment, tag, grader } = readFields(values, 'assessment', 'tag', 'grader')
  const choiceFilter = { named: readNameFilter(values), chosenIds: [assessment, tag, grader] }
  if (may(ctx, 'read')) {
    const lookups = [
      listAssessmentChoices(ctx, choiceFilter),
      listTagChoices(ctx, choiceFilter),
      listGraderChoices(ctx, choiceFilter),
    ] as const
    const [assessments, tags, graders] = await Promise.all(lookups)
    const lists = await findListChoices(ctx, readFields(values, 'list').list)
    return { assessments, tags, graders: [...(await findFormerGrader(ctx, grader, graders)), ...graders], lists }
  }
  return {
    assessments: may(ctx, 'read_as_client') ? await listClientAssessments(ctx, choiceFilter, { withNames: true }) : [],
    tags: [],
    graders: [],
    lists: [],
  }
}

/** The newest lists of candidates, and the selected one. */
async function findListChoices(ctx: Context, chosen: string): Promise<Choice[]> {
  if (!may(ctx, 'invite')) return []
  const lists = (await listBatches(ctx)).filter(({ startedAt, id }) => startedAt !== null || id === chosen)
  const isKnown = !isUuid(chosen) || lists.some(({ id }) => id === chosen)
  const earlier = isKnown ? [] : await getBatch(ctx, chosen).then((list) => [list], noneIfUnknown)
  return [...lists, ...earlier].map(({ id, fileName, assessment, createdAt }) => ({
    id,
    name: `${fileName || assessment.name}, ${createdAt.toISOString().slice(0, 10)}`,
  }))
}

function noneIfUnknown(error: unknown): [] {
  if (error instanceof DomainError && error.kind === 'invite_batch_not_found') return []
  throw error
}

/** The selected grader, if they no longer grade: without them the form would show a different choice from the applied filter. */
async function findFormerGrader(ctx: Context, id: string, graders: Choice[]): Promise<Choice[]> {
  if (!isUuid(id) || graders.some((grader) => grader.id === id)) return []
  return (await findMembers(ctx, [id])).map(({ email, erasedAt }) => ({ id, name: erasedAt ? ERASED_MEMBER : email }))
}

/**
 * The filter in the list's address, without invalid values. If the actor may not read everything, it is narrowed: for graders to their
 * assigned invites, for clients to one assessment.
 *
 * @returns null for a client without assessments.
 * @throws DomainError not_permitted for other roles.
 */
export function readInviteFilter(ctx: Context, values: URLSearchParams, assessments: Choice[]): InviteFilter | null {
  const filter = readFilter(values)
  if (may(ctx, 'read') || filter.assessmentId !== undefined) return filter
  if (ctx.actor.kind === 'member' && may(ctx, 'read_as_grader')) return { ...filter, assignedGraderId: ctx.actor.id }
  authorize(ctx, 'read_as_client')
  return assessments[0] ? { ...filter, assessmentId: assessments[0].id } : null
}

function readFilter(values: URLSearchParams): InviteFilter {
  const { state, assessment, tag, grader, source, search, list, part } = readFields(values, ...FILTERS)
  const typed = search.trim()
  const isAddress = isEmailAddress(typed)
  const input: FilterInput<InviteFilter> = {
    status: INVITE_STATUSES.find((status) => status === state),
    assessmentId: isUuid(assessment) ? assessment : undefined,
    tagId: isUuid(tag) ? tag : undefined,
    recipientEmail: isAddress ? typed : undefined,
    recipient: isAddress || typed === '' ? undefined : typed,
    search: undefined,
    assignedGraderId: isUuid(grader) ? grader : undefined,
    externalId: undefined,
    statuses: undefined,
    sentFrom: undefined,
    sentTo: undefined,
    expiresFrom: undefined,
    expiresTo: undefined,
    updatedSince: undefined,
    source: INVITE_SOURCES.find((known) => known === source),
    isUndelivered: state === UNDELIVERED ? true : undefined,
    list: isUuid(list) ? { id: list, part: LIST_PARTS.find((known) => known === part) ?? 'invited' } : undefined,
  }
  return omitUndefined(input)
}
