import { isSimultaneous } from '../../assessments/simultaneous.ts'
import { MAX_SIMULTANEOUS_PLAYS } from '../../limits.ts'
import type { SubmissionQuestion } from './paper.ts'
import type { Submission } from './session.ts'

type Limited = Pick<SubmissionQuestion, 'simultaneous' | 'responseType' | 'audioUrl' | 'videoUrl'>

/** Attempts at the answer. While its prompt plays it is recorded once, whatever the invite allows. */
export const attemptLimitOf = (question: Limited, { answerRecordLimit }: Pick<Submission, 'answerRecordLimit'>): number =>
  isSimultaneous(question) ? 1 : answerRecordLimit

/** Plays of the prompt. For a simultaneous question, grant-play.ts has further conditions. */
export const playLimitOf = (question: Limited, { questionReplayLimit }: Pick<Submission, 'questionReplayLimit'>): number =>
  isSimultaneous(question) ? MAX_SIMULTANEOUS_PLAYS : questionReplayLimit
