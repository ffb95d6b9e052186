import type { Question, Tag } from '../../src/generated/prisma/client.ts'
import type { Assessment, Invite, ListedInvite, Member } from './plain-rows.ts'

// The bodies of v1.

export const presentInvite = (invite: Omit<ListedInvite, 'tags'>) => ({
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

export const presentListedAssessment = (assessment: Assessment) => ({
  id: assessment.id,
  name: assessment.name,
  defaultQuestionFormat: assessment.defaultQuestionFormat,
  defaultAnswerFormat: assessment.defaultAnswerFormat,
  languages: assessment.languages.map(({ language }) => language.code),
  questionCount: assessment.questionCount,
  inviteCount: assessment._count.invites,
  createdAt: assessment.createdAt,
  updatedAt: assessment.updatedAt,
})

export const presentAssessment = (assessment: Assessment) => ({
  ...presentListedAssessment(assessment),
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

export const presentMember = (member: Member) => ({
  id: member.id,
  firstName: member.user.firstName,
  lastName: member.user.lastName,
  email: member.email,
  avatarUrl: member.user.avatarUrl,
  roles: member.roles,
  status: member.status,
  department: member.department,
  joinedAt: member.joinedAt,
})

export const presentQuestion = (question: Question) => ({
  id: question.id,
  order: question.order,
  inputType: question.inputType,
  script: question.script,
  audioUrl: question.audioUrl,
  videoUrl: question.videoUrl,
  responseType: question.responseType,
  points: question.points,
  timeLimit: question.timeLimit,
  sourceLanguage: question.sourceLanguage ?? '',
  targetLanguage: question.targetLanguage ?? '',
  createdAt: question.createdAt,
  updatedAt: question.updatedAt,
})
