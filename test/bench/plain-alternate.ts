import type { Tag } from '../../src/generated/prisma/client.ts'
import type { Assessment, ListedInvite, Member } from './plain-rows.ts'

// The bodies of the alternate interface.

export const presentInvite = (invite: ListedInvite) => ({
  id: invite.id,
  assessment_session: invite.assessmentSession,
  deleted: false,
  created_at: invite.createdAt,
  updated_at: invite.updatedAt,
  email: invite.recipientEmail,
  status: invite.status,
  face_photo_required: invite.facePhotoRequired,
  id_photo_required: invite.requireIdCapture,
  question_play_limit: invite.questionReplayLimit,
  answer_record_limit: invite.answerRecordLimit,
  expires_at: invite.expiresAt,
  organization: invite.organizationId,
  assessment: invite.assessmentId,
  user: null,
  created_by: invite.createdById ?? invite.createdByKeyId ?? '',
  assigned_grader: invite.assignedGraderId,
  tags: invite.tags.map(({ tagId }) => tagId),
})

export const presentAssessment = (assessment: Assessment) => ({
  id: assessment.id,
  question_count: assessment.questionCount,
  tags: assessment.tags.map(({ tagId }) => tagId),
  clients: assessment.clients.map(({ memberId }) => memberId),
  client_count: assessment.clients.length,
  time_limit_minutes: Math.floor(assessment.timeLimit / 60),
  time_limit_seconds: assessment.timeLimit % 60,
  deleted: false,
  created_at: assessment.createdAt,
  updated_at: assessment.updatedAt,
  name: assessment.name,
  type: assessment.defaultQuestionFormat,
  audience: assessment.audience,
  answer_type: assessment.defaultAnswerFormat,
  time_limit: assessment.timeLimit,
  instruction: assessment.instructionId,
  organization: assessment.organizationId,
  created_by: assessment.createdById ?? '',
  languages: assessment.languages.map(({ languageId }) => languageId),
  categories: assessment.categories.map(({ categoryId }) => categoryId),
  skill_type: assessment.skillTypes,
})

export const presentTag = (tag: Tag) => ({
  id: tag.id,
  name: tag.name,
  color: tag.color,
  organization: tag.organizationId,
  created_by: tag.createdById,
  created_at: tag.createdAt,
  updated_at: tag.updatedAt,
  icon: tag.icon,
})

export const presentOrganizationUser = (member: Member) => ({
  id: member.id,
  tags: member.tags.map(({ tagId }) => tagId),
  assigned_assessments_count: member._count.clientOf,
  deleted: false,
  created_at: member.createdAt,
  updated_at: member.updatedAt,
  roles: member.roles,
  can_view_transcription: member.canViewTranscription,
  organization: member.organizationId,
  user: member.userId,
  grading_languages: member.gradingLanguages.map(({ languageId }) => languageId),
})
