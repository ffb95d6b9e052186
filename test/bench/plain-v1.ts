import type { Tag } from '../../src/generated/prisma/client.ts'
import type { Assessment, Invite, InviteSummary } from './plain-rows.ts'

// The bodies of v1.

export const presentInvite = (invite: InviteSummary) => ({
  id: invite.id,
  assessmentId: invite.assessmentId,
  assessmentName: invite.assessment.name,
  recipientEmail: invite.recipientEmail,
  recipientName: invite.recipientName,
  status: invite.status,
  questionReplayLimit: invite.questionReplayLimit,
  answerRecordLimit: invite.answerRecordLimit,
  sentAt: invite.sentAt,
  expiresAt: invite.expiresAt,
  acceptedAt: invite.acceptedAt,
  startedAt: invite.startedAt,
  completedAt: invite.completedAt,
})

export const presentInviteDetail = (invite: Invite) => ({
  ...presentInvite(invite),
  assignedGrader: invite.assignedGrader && {
    id: invite.assignedGrader.id,
    firstName: invite.assignedGrader.user.firstName,
    lastName: invite.assignedGrader.user.lastName,
    email: invite.assignedGrader.email,
  },
  proctoringSettings: {
    screenRecording: invite.screenRecording,
    webcamMonitoring: invite.webcamMonitoring,
    requireIdCapture: invite.requireIdCapture,
  },
  customMessage: invite.customMessage,
  revokedAt: invite.revokedAt,
})

export const presentAssessment = (assessment: Assessment) => ({
  id: assessment.id,
  name: assessment.name,
  defaultQuestionFormat: assessment.defaultQuestionFormat,
  defaultAnswerFormat: assessment.defaultAnswerFormat,
  languages: assessment.languages.map(({ language }) => language.code),
  questionCount: assessment.questionCount,
  inviteCount: assessment._count.invites,
  createdAt: assessment.createdAt,
  updatedAt: assessment.updatedAt,
  totalPoints: assessment.totalPoints,
})

export const presentTag = (tag: Tag) => ({
  id: tag.id,
  name: tag.name,
  color: tag.color,
  description: tag.description,
  createdAt: tag.createdAt,
  updatedAt: tag.updatedAt,
})
