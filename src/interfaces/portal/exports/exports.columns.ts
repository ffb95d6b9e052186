import type { NamedAuditEntry } from '../../../domain/audit/audit-log.ts'
import { type DecisionNames, nameOfDecision } from '../../../domain/invites/decisions/decision-names.ts'
import { declinedAtOf } from '../../../domain/invites/declined.ts'
import type { ExportedInvite } from '../../../domain/invites/listing/export-invites.ts'
import type { ExportedMember } from '../../../domain/members/export-members.ts'
import type { ExportedGrades, ExportedQuestion } from '../../../domain/submissions/grading/export-grades.ts'
import type { ExportedNote } from '../../../domain/submissions/grading/export-notes.ts'
import { percentOf } from '../../../domain/submissions/grading/grading-status.ts'
import type { ReleasedResult } from '../../../domain/submissions/grading/results.ts'
import { displayNameOf } from '../../../domain/text/display-name.ts'
import type { Column } from '../../../http/sending/send-csv.ts'

const joinValues = (values: string[]): string => values.join('; ')

export const inviteColumns: Column<ExportedInvite>[] = [
  ['id', ({ id }) => id],
  ['email', ({ recipientEmail }) => recipientEmail],
  ['name', ({ recipientName }) => recipientName],
  ['assessment', ({ assessment }) => assessment],
  ['assessment_id', ({ assessmentId }) => assessmentId],
  ['state', ({ status }) => status],
  ['kind', ({ mode }) => mode],
  ['source', ({ source }) => source],
  ['tags', ({ tags }) => joinValues(tags)],
  ['grader', ({ grader }) => grader],
  ['invited_by', ({ createdBy }) => createdBy],
  ['created_at', ({ createdAt }) => createdAt],
  ['sent_at', ({ sentAt }) => sentAt],
  ['expires_at', ({ expiresAt }) => expiresAt],
  ['accepted_at', ({ acceptedAt }) => acceptedAt],
  ['started_at', ({ startedAt }) => startedAt],
  ['completed_at', ({ completedAt }) => completedAt],
  ['revoked_at', ({ revokedAt }) => revokedAt],
  ['declined_at', declinedAtOf],
  ['external_id', ({ externalId }) => externalId],
  ['metadata', ({ metadata }) => (metadata === null ? null : JSON.stringify(metadata))],
  ['points', ({ points }) => points],
  ['of_points', ({ ofPoints }) => ofPoints],
  [
    'percent',
    ({ points, ofPoints }) => (points === null || ofPoints === null ? null : percentOf(Number(points), Number(ofPoints))),
  ],
]

export const resultColumns = (names: DecisionNames): Column<ReleasedResult>[] => [
  ['submission_id', ({ id }) => id],
  ['invite_id', ({ invite }) => invite.id],
  ['email', ({ invite }) => invite.recipientEmail],
  ['name', ({ invite }) => invite.recipientName],
  ['assessment', ({ assessment }) => assessment.name],
  ['points', ({ result }) => result.points],
  ['of_points', ({ result }) => result.ofPoints],
  ['percent', ({ result }) => result.percent],
  ['handed_in_at', ({ submittedAt }) => submittedAt],
  ['released_at', ({ result }) => result.releasedAt],
  ['version', ({ result }) => result.version],
  ['band', ({ result }) => result.band],
  ['knocked_out_by', ({ result }) => result.knockedOut.join(' ')],
  ['decision', ({ decision }) => nameOfDecision(names, decision)],
  ['decision_note', ({ decisionNote }) => decisionNote],
  ['decided_at', ({ decidedAt }) => decidedAt],
  ['decided_by', ({ decidedBy }) => decidedBy && displayNameOf(decidedBy.user)],
]

export const memberColumns: Column<ExportedMember>[] = [
  ['id', ({ id }) => id],
  ['email', ({ email }) => email],
  ['first_name', ({ user }) => user.firstName],
  ['last_name', ({ user }) => user.lastName],
  ['roles', ({ roles, portalRoles }) => joinValues([...portalRoles, ...roles])],
  ['department', ({ department }) => department],
  ['state', ({ status, credentialId }) => (status === 'active' && !credentialId ? 'invited' : status)],
  ['signs_in_to_the_portal', ({ credentialId }) => (credentialId ? 'yes' : 'no')],
  ['second_step', ({ credential }) => joinValues([...new Set(credential?.secondFactors.map(({ kind }) => kind))].sort())],
  ['last_signed_in_at', ({ lastSignedInAt }) => lastSignedInAt],
  ['invited_by', ({ invitedBy }) => invitedBy],
  ['tags', ({ tags }) => joinValues(tags.map(({ tag }) => tag.name))],
  ['grades_in', ({ gradingLanguages }) => joinValues(gradingLanguages.map(({ language }) => language.code))],
  ['joined_at', ({ joinedAt, credentialId }) => credentialId && joinedAt],
  ['created_at', ({ createdAt }) => createdAt],
  ['updated_at', ({ updatedAt }) => updatedAt],
]

export const auditColumns: Column<NamedAuditEntry>[] = [
  ['id', ({ id }) => id],
  ['at', ({ at }) => at],
  ['actor_kind', ({ actorKind }) => actorKind],
  ['actor_id', ({ actorId }) => actorId],
  ['actor', ({ actorName }) => actorName],
  ['action', ({ action }) => action],
  ['target_kind', ({ targetKind }) => targetKind],
  ['target_id', ({ targetId }) => targetId],
  ['target', ({ targetName }) => targetName],
  ['details', ({ details }) => JSON.stringify(details)],
  ['mode', ({ mode }) => mode],
  ['address', ({ address }) => address],
  ['user_agent', ({ userAgent }) => userAgent],
  ['session_id', ({ sessionId }) => sessionId],
  ['request_id', ({ requestId }) => requestId],
]

/** An entry as a line of JSON: the columns of the CSV file, with all details. */
export const auditLine = (entry: NamedAuditEntry) => ({
  ...Object.fromEntries(auditColumns.map(([name, cell]) => [name, cell(entry) ?? null])),
  details: entry.details,
})

/**
 * Columns of points, one per question: first the assessment's in their order, then removed ones. A second set of columns shows whether the
 * key or a person gave the points.
 */
export const gradeColumns = (questions: ExportedQuestion[]): Column<ExportedGrades>[] => [
  ['submission_id', ({ submissionId }) => submissionId],
  ['invite_id', ({ inviteId }) => inviteId],
  ['email', ({ recipientEmail }) => recipientEmail],
  ['name', ({ recipientName }) => recipientName],
  ['state', ({ state }) => state],
  ['handed_in_at', ({ submittedAt }) => submittedAt],
  ...questions.map(
    ({ id, place, isRemoved }): Column<ExportedGrades> => [nameOf({ place, isRemoved }), ({ points }) => points.get(id)],
  ),
  ['total', ({ total }) => total],
  ['of_points', ({ ofPoints }) => ofPoints],
  ['percent', ({ percent }) => percent],
  ['questions_to_grade', ({ toGrade }) => toGrade],
  ['graded_by', ({ graders }) => joinValues(graders)],
  ['released_at', ({ releasedAt }) => releasedAt],
  ['version', ({ version }) => version],
  ...questions.map(
    (question): Column<ExportedGrades> => [`${nameOf(question)}_given_by`, ({ givenBy }) => givenBy.get(question.id)],
  ),
]

export const noteColumns: Column<ExportedNote>[] = [
  ['submission_id', ({ submissionId }) => submissionId],
  ['invite_id', ({ inviteId }) => inviteId],
  ['email', ({ recipientEmail }) => recipientEmail],
  ['name', ({ recipientName }) => recipientName],
  ['question', ({ questionNumber }) => questionNumber],
  ['from_seconds', ({ startMs }) => startMs / 1_000],
  ['until_seconds', ({ endMs }) => (endMs === null ? null : endMs / 1_000)],
  ['category', ({ category }) => category],
  ['text', ({ text }) => text],
  ['points_off', ({ pointsOff }) => pointsOff],
  ['grader', ({ grader }) => grader],
  ['created_at', ({ createdAt }) => createdAt],
]

const nameOf = ({ place, isRemoved }: Pick<ExportedQuestion, 'place' | 'isRemoved'>): string =>
  `${isRemoved ? 'removed_question' : 'question'}_${place}`
