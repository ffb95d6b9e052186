import { describe, expect, it } from 'vitest'
import { showInvite } from '../../src/archives/candidate.json.ts'
import { ASSESSMENT_FIELDS } from '../../src/domain/assessments/assessment-fields.ts'
import { QUESTION_FIELDS } from '../../src/domain/assessments/question-fields.ts'
import { copiedFields, type FieldPlace, type FieldPolicy } from '../../src/domain/fields/field-policy.ts'
import { INVITE_FIELDS } from '../../src/domain/invites/invite-fields.ts'
import { withDefaults } from '../../src/domain/invites/new-invite.ts'
import { MEMBER_FIELDS } from '../../src/domain/members/member-fields.ts'
import { assessmentView as alternateAssessmentView } from '../../src/interfaces/alternate/assessments.view.ts'
import { inviteView as alternateInviteView } from '../../src/interfaces/alternate/invites.view.ts'
import { organizationUserView } from '../../src/interfaces/alternate/organization-users.view.ts'
import { inviteColumns, memberColumns } from '../../src/interfaces/portal/exports/exports.columns.ts'
import { assessmentDetailView } from '../../src/interfaces/v1/assessments.view.ts'
import { inviteDetailView } from '../../src/interfaces/v1/invites.view.ts'
import { memberView } from '../../src/interfaces/v1/members.view.ts'
import { questionView } from '../../src/interfaces/v1/questions.view.ts'

type Policies = Record<string, FieldPolicy>

/** Names of the properties that a function reads from its argument. */
function namesRead(read: (row: never) => unknown): string[] {
  const names = new Set<string>()
  const row = new Proxy({}, { get: (_, name) => void names.add(String(name)) })
  try {
    read(row as never)
  } catch {
    // The names read before the failure are enough.
  }
  return [...names]
}
const namesInColumns = (columns: readonly (readonly [string, (row: never) => unknown])[]) =>
  columns.flatMap(([, cell]) => namesRead(cell))

const columnsIn = (policies: Policies, place: FieldPlace) =>
  Object.keys(policies)
    .filter((column) => policies[column]!.shownIn.includes(place))
    .sort()
const columnsOf = (policies: Policies, names: readonly string[]) => [...new Set(names)].filter((name) => name in policies).sort()

const emptyInvite = Object.fromEntries(Object.keys(INVITE_FIELDS).map((name) => [name, null]))
const namesInArchive = Object.keys(showInvite({ invite: emptyInvite, tags: [], orders: [] } as never))

describe('a field policy', () => {
  it.each<[string, Policies, FieldPlace, readonly string[]]>([
    ['an invite', INVITE_FIELDS, 'v1', inviteDetailView.columns],
    ['an invite', INVITE_FIELDS, 'alternate', alternateInviteView.columns],
    ['an invite', INVITE_FIELDS, 'csv', namesInColumns(inviteColumns)],
    ['an invite', INVITE_FIELDS, 'archive', [...inviteDetailView.columns, ...namesInArchive]],
    ['a member', MEMBER_FIELDS, 'v1', memberView.columns],
    ['a member', MEMBER_FIELDS, 'alternate', organizationUserView.columns],
    ['a member', MEMBER_FIELDS, 'csv', namesInColumns(memberColumns)],
    ['an assessment', ASSESSMENT_FIELDS, 'v1', assessmentDetailView.columns],
    ['an assessment', ASSESSMENT_FIELDS, 'alternate', alternateAssessmentView.columns],
    ['a question', QUESTION_FIELDS, 'v1', questionView.columns],
  ])('lists the columns of %s for each place (case %#)', (_, policies, place, names) => {
    expect([place, columnsOf(policies, names)]).toEqual([place, columnsIn(policies, place)])
  })

  it('copies the terms of an invite to its retake', () => {
    const terms = Object.keys(withDefaults({}))
    expect(copiedFields(INVITE_FIELDS).sort()).toEqual([...terms, 'assessmentId', 'recipientEmail'].sort())
  })
})
