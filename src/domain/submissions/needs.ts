import type { QuestionKinds } from '../ports/question-kind.ts'

// Requirements of an assessment for a candidate: by its answers, and by its invite.

/** Checks before the start. */
export const CHECKS = ['camera', 'microphone', 'screen'] as const
export type PreStartCheck = (typeof CHECKS)[number]
/** Photos that are taken before the start. */
export const PHOTOS = ['id_photo', 'face_photo'] as const
export type RequiredPhoto = (typeof PHOTOS)[number]
/** Requirements that an organization can waive, and that a candidate consents to. */
export const REQUIREMENTS = [...CHECKS, ...PHOTOS] as const
export type Requirement = (typeof REQUIREMENTS)[number]

export type Needs = {
  microphone: boolean
  camera: boolean
  screen: boolean
  idPhoto: boolean
  facePhoto: boolean
  /** The candidate chooses how to answer a question: a recording is possible, nothing is needed for it. */
  choice: boolean
  /** Recorded answers are sent to a speech recognition service. */
  transcription: boolean
}

export type ProctoringTerms = {
  screenRecording: boolean
  webcamMonitoring: boolean
  requireIdCapture: boolean
  facePhotoRequired: boolean
}
type ResponseTypeOf = { responseType: string }
type Kinds = Pick<QuestionKinds, 'answering'>

/** True if only a recording is an answer. */
export const isRecorded = (kinds: Kinds, { responseType }: ResponseTypeOf): boolean =>
  kinds.answering(responseType).savedBy.every((source) => source === 'recording')

/** @param isTranscribing see organization/transcription.ts. */
export function toNeeds(
  kinds: Kinds,
  invite: ProctoringTerms,
  questions: readonly ResponseTypeOf[],
  isTranscribing = false,
): Needs {
  const answerKinds = questions.map(({ responseType }) => kinds.answering(responseType))
  const isNeeded = (device: 'microphone' | 'camera') => answerKinds.some(({ needs }) => needs.includes(device))
  return {
    microphone: isNeeded('microphone'),
    camera: invite.webcamMonitoring || isNeeded('camera'),
    screen: invite.screenRecording,
    idPhoto: invite.requireIdCapture,
    facePhoto: invite.facePhotoRequired,
    choice: answerKinds.some(({ savedBy }) => savedBy.length > 1 && savedBy.includes('recording')),
    transcription: isTranscribing && answerKinds.some(({ savedBy }) => savedBy.includes('recording')),
  }
}

/** Requirements before the start, unless waived. */
export const requirementsOf = (needs: Needs): Requirement[] =>
  REQUIREMENTS.filter((requirement) => {
    if (requirement === 'id_photo') return needs.idPhoto
    if (requirement === 'face_photo') return needs.facePhoto
    return needs[requirement]
  })

/** Media that a candidate consents to: required ones, and optional recordings. */
export const consentedMedia = (needs: Needs): Requirement[] =>
  requirementsOf(needs.choice ? { ...needs, camera: true, microphone: true } : needs)

/** Media, and what else is done with them, that a consent names. */
export const consentScope = (needs: Needs): string[] => [
  ...consentedMedia(needs),
  ...(needs.transcription ? [TRANSCRIPTION] : []),
]

/** Part of a consent: recorded answers are sent to a speech recognition service. Who consented without it isn't asked again. */
export const TRANSCRIPTION = 'transcription'

type Prepared = {
  needs: Needs
  submission: { consentAt: Date | null; consentMedia: string[]; passedChecks: string[] } | null
  photos: Record<RequiredPhoto, boolean>
  waived: readonly string[]
}

/** Missing for the start: `consent`, and requirements that are neither met nor waived. */
export function missingToStart({ needs, submission, photos, waived }: Prepared): string[] {
  const isMet = (requirement: Requirement): boolean =>
    requirement === 'id_photo' || requirement === 'face_photo'
      ? photos[requirement]
      : submission?.passedChecks.includes(requirement) === true
  const missing = requirementsOf(needs).filter((requirement) => !isMet(requirement) && !waived.includes(requirement))
  return hasConsented(submission, needs) ? missing : ['consent', ...missing]
}

/** True if the given consent covers the current requirements. */
export const hasConsented = (submission: Prepared['submission'], needs: Needs): boolean =>
  submission?.consentAt != null && consentedMedia(needs).every((medium) => submission.consentMedia.includes(medium))
